import { describe, expect, it } from 'vitest';
import { readEncryptionKeys } from '../../src/config/environment/encryption-keys.ts';
import { type Binding, TokenVault } from '../../src/sessions/token-vault.ts';

const [A, B] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64'));
const vaultOf = (keys: string | undefined) => new TokenVault(readEncryptionKeys(keys));
const HERE: Binding = ['operator token', 'of this session'];
const identity = {
  operatorId: 'alpha',
  playerId: '1',
  currency: 'USD',
  operatorToken: 'anns-own-token',
  ordinal: 1,
};

describe('a vault with a key', () => {
  const vault = vaultOf(A);

  it('makes the same token for the same session, 43 characters that pass anywhere', () => {
    expect(vault.make(identity)).toBe(vaultOf(A).make(identity));
    expect(vault.make(identity)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it.each([
    { operatorId: 'beta' },
    { playerId: '2' },
    { currency: 'EUR' },
    { operatorToken: 'anns-other-token' },
    { ordinal: 2 },
  ])('makes another token when only %o differs', (other) => {
    expect(vault.make({ ...identity, ...other })).not.toBe(vault.make(identity));
  });

  it.each(['anns-own-token', '', 'caf\u00e9 \ud83d\ude00', 'x'.repeat(512)])(
    'seals %j so that it is unreadable, different each time, and comes back',
    (token) => {
      const sealed = vault.seal(token, HERE);
      expect(vault.open(sealed, HERE)).toEqual({ kind: 'opened', text: token });
      expect(vault.seal(token, HERE)).not.toEqual(sealed);
      if (token !== '') expect(sealed.includes(token)).toBe(false);
    },
  );

  it('notices any change of what it sealed, and never throws', () => {
    const sealed = vault.seal('anns-own-token', HERE);
    for (let byte = 0; byte < sealed.length; byte += 1) {
      for (const flip of [1, 3, 0x80]) {
        const changed = Buffer.from(sealed);
        changed[byte] = (changed[byte] ?? 0) ^ flip;
        expect(vault.open(changed, HERE).kind).toBe('unopenable');
      }
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(vault.open(sealed.subarray(0, length), HERE).kind).toBe('unopenable');
    }
  });

  const elsewhere: readonly Binding[] = [
    ['operator token', 'of another session'],
    ['own token', 'of this session'],
    ['operator token'],
    ['operator token","of this session'],
  ];
  it('opens nothing that was sealed for another place', () => {
    const sealed = vault.seal('anns-own-token', HERE);
    for (const binding of elsewhere) {
      expect(vault.open(sealed, binding).kind).toBe('unopenable');
    }
  });

  it('cannot open what another key has sealed, and says which key is missing', () => {
    expect(vaultOf(B).open(vault.seal('x', HERE), HERE)).toEqual({
      kind: 'unopenable',
      why: expect.stringContaining('does not hold the key'),
    });
  });

  it('refuses unsealed tokens, unless it is told that some were stored before', () => {
    const plain = vaultOf(undefined).seal('anns-own-token', HERE);
    expect(vault.open(plain, HERE).kind).toBe('unopenable');
    expect(vaultOf(`${A},plain`).open(plain, HERE)).toEqual({
      kind: 'opened',
      text: 'anns-own-token',
    });
  });
});

describe('a vault whose key is being rotated', () => {
  const [before, during, after] = [`a:${A}`, `b:${B},a:${A}`, `b:${B}`].map(vaultOf);

  it('opens what either key has sealed, and seals with the first', () => {
    const old = before?.seal('anns-own-token', HERE) ?? Buffer.alloc(0);
    expect(during?.open(old, HERE).kind).toBe('opened');
    const fresh = during?.seal('anns-own-token', HERE) ?? Buffer.alloc(0);
    expect(after?.open(fresh, HERE).kind).toBe('opened');
    expect(before?.open(fresh, HERE).kind).toBe('unopenable');
  });

  it('makes again the token of a session that an older key has made', () => {
    const token = before?.make(identity) ?? '';
    const hash = vaultOf(undefined).hash(token);
    expect(during?.remake(identity, hash)).toBe(token);
    expect(during?.isMadeNow(identity, hash)).toBe(false);
    expect(after?.remake(identity, hash)).toBeUndefined();
  });
});

describe('the substitute for a token in a stored message', () => {
  const vault = vaultOf(A);

  it('holds the token’s hash and not the token', () => {
    const reference = vault.reference('a-token-of-theirs');
    expect(reference).not.toContain('a-token-of-theirs');
    expect(vault.hashOfReference(reference)).toEqual(vault.hash('a-token-of-theirs'));
  });

  it('is never taken for a token, nor a token for it', () => {
    const reference = vault.reference('a-token-of-theirs');
    expect(vault.hash(reference)).not.toEqual(vault.hash('a-token-of-theirs'));
    for (const token of [vault.make(identity), 'alpha.own-token', 'sha256.own-token']) {
      expect(vault.hashOfReference(token)).toBeUndefined();
    }
  });
});
