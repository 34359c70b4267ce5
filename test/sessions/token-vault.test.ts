import { createCipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
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

/** As tokens were sealed before keys could be rotated: not bound to anything, and without the key's name. */
function sealedUnbound(key: Buffer, token: string): Buffer {
  const sub = Buffer.from(
    hkdfSync('sha256', key, Buffer.alloc(0), 'wagergate operator tokens', 32),
  );
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', createSecretKey(sub), nonce);
  const sealed = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(1), nonce, cipher.getAuthTag(), sealed]);
}

describe('a vault with a key', () => {
  const vault = vaultOf(A);

  it('makes the same token for the same session, 43 characters that pass anywhere', () => {
    expect(vault.make(identity)).toBe(vaultOf(A).make(identity));
    expect(vault.make(identity)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('makes the tokens that it made before keys could be rotated', () => {
    expect(vault.make(identity)).toBe('Aw-n9VMTMAYVogOqnTcyShUpCiNEYJM3ZzLQRRlR41s');
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

  it('cannot be led to the same token by moving a boundary between the parts', () => {
    const one = { ...identity, currency: 'USD', operatorToken: 'EURx' };
    const other = { ...identity, currency: 'USDEUR', operatorToken: 'x' };
    expect(vault.make(one)).not.toBe(vault.make(other));
    const quoted = { ...identity, currency: 'USD","x', operatorToken: 'y' };
    const unquoted = { ...identity, currency: 'USD', operatorToken: 'x","y' };
    expect(vault.make(quoted)).not.toBe(vault.make(unquoted));
  });

  it('makes other tokens under another key: without it none can be guessed', () => {
    expect(vaultOf(B).make(identity)).not.toBe(vault.make(identity));
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

  it('says by its first bytes what is sealed by the first key', () => {
    const mark = during?.sealMark;
    expect(mark).toHaveLength(9);
    expect(after?.seal('x', HERE).subarray(0, 9)).toEqual(mark);
    expect(before?.seal('x', HERE).subarray(0, 9)).not.toEqual(mark);
  });

  it('opens by any of its keys what was sealed before keys had marks', () => {
    const sealed = sealedUnbound(Buffer.alloc(32, 7), 'anns-own-token');
    expect(during?.open(sealed, HERE)).toEqual({ kind: 'opened', text: 'anns-own-token' });
    expect(after?.open(sealed, HERE).kind).toBe('unopenable');
  });

  it('makes again the token of a session that an older key has made', () => {
    const token = before?.make(identity) ?? '';
    const hash = vaultOf(undefined).hash(token);
    expect(during?.remake(identity, hash)).toBe(token);
    expect(during?.isMadeNow(identity, hash)).toBe(false);
    expect(after?.remake(identity, hash)).toBeUndefined();
  });
});

describe('a vault without a key', () => {
  const vault = vaultOf(undefined);

  it('makes tokens at random', () => {
    expect(vault.hasKey).toBe(false);
    const tokens = new Set(Array.from({ length: 100 }, () => vault.make(identity)));
    expect(tokens.size).toBe(100);
    for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('keeps operator tokens as they are', () => {
    expect(vault.open(vault.seal('anns-own-token', HERE), HERE)).toEqual({
      kind: 'opened',
      text: 'anns-own-token',
    });
  });

  it('says that a key is missing when a token was sealed', () => {
    for (const sealed of [
      vaultOf(A).seal('anns-own-token', HERE),
      sealedUnbound(Buffer.alloc(32, 7), 'anns-own-token'),
    ]) {
      expect(vault.open(sealed, HERE)).toEqual({
        kind: 'unopenable',
        why: expect.stringContaining('ENCRYPTION_KEY is not set'),
      });
    }
  });
});

it('a hash is 32 bytes, the same with and without a key', () => {
  expect(vaultOf(A).hash('token')).toEqual(vaultOf(undefined).hash('token'));
  expect(vaultOf(A).hash('token')).toHaveLength(32);
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
