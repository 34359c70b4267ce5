import { describe, expect, it } from 'vitest';
import { readEncryptionKeys } from '../../../src/config/environment/encryption-keys.ts';
import { GatewayError } from '../../../src/domain/errors.ts';

const [A, B] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64'));
const idsOf = (text: string) => readEncryptionKeys(text)?.keys.map(({ id }) => id);

function refusal(text: string): string {
  try {
    readEncryptionKeys(text);
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
  }
  return 'taken';
}

describe('ENCRYPTION_KEY', () => {
  it.each([undefined, '', '  '])('may be left out (%j)', (text) => {
    expect(readEncryptionKeys(text)).toBeUndefined();
  });

  it('may be one key without an id', () => {
    expect(readEncryptionKeys(A)?.keys[0].bytes).toEqual(Buffer.alloc(32, 7));
    expect(idsOf(`${A}`)).toEqual([expect.stringMatching(/^key-[0-9a-f]{8}$/)]);
    expect(readEncryptionKeys(A)?.acceptsPlain).toBe(false);
  });

  it('may be a list of keys with ids, the first of which seals', () => {
    expect(idsOf(`2026b:${B}, 2026a:${A}`)).toEqual(['2026b', '2026a']);
    expect(idsOf(`2026b:${B},\n${A}\n`)).toEqual(['2026b', expect.stringMatching(/^key-/)]);
  });

  it('may say that what was stored unencrypted is still accepted', () => {
    const keys = readEncryptionKeys(`2026a:${A},plain`);
    expect(keys).toMatchObject({ acceptsPlain: true, keys: [{ id: '2026a' }] });
  });

  it('marks what a key has sealed by the key, not by what people call it', () => {
    const [mark] = readEncryptionKeys(`old-name:${A}`)?.keys.map((key) => key.mark) ?? [];
    expect(mark).toHaveLength(8);
    expect(readEncryptionKeys(A)?.keys[0].mark).toEqual(mark);
    expect(readEncryptionKeys(`old-name:${B}`)?.keys[0].mark).not.toEqual(mark);
  });

  it.each([
    ['too-short', 'must be 32 bytes in base64; make one'],
    [`2026a:${Buffer.alloc(31).toString('base64')}`, 'must be 32 bytes in base64; make one'],
    [`2026a:${A},x`, 'entry 2 of the list is not'],
    [`2026a:${A},`, 'entry 2 of the list is not'],
    [`2026a:${A}!`, 'must be 32 bytes'],
    [`2026a:${A},2026a:${B}`, 'calls two keys 2026a'],
    [`2026a:${A},2026b:${A}`, 'has the key 2026b twice'],
    [`a b:${A}`, 'no usable id in entry 1'],
    [`:${A}`, 'no usable id in entry 1'],
    [`plain:${A}`, 'no usable id in entry 1'],
    ['plain', 'names no key beside plain'],
  ])('is refused in one line that holds no key: %s', (text, why) => {
    const message = refusal(text);
    expect(message).toContain(why);
    expect(message).toMatch(/^ENCRYPTION_KEY /);
    for (const key of [A, B]) expect(message).not.toContain(key);
  });
});
