import { describe, expect, it } from 'vitest';
import { TokenVault } from '../../src/sessions/token-vault.ts';

const KEY = Buffer.alloc(32, 7);
const identity = {
  operatorId: 'alpha',
  playerId: '1',
  currency: 'USD',
  operatorToken: 'anns-own-token',
  ordinal: 1,
};

describe('a vault with a key', () => {
  const vault = new TokenVault(KEY);

  it('makes the same token for the same session, 43 characters that pass anywhere', () => {
    expect(vault.make(identity)).toBe(new TokenVault(KEY).make(identity));
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

  it('cannot be led to the same token by moving a boundary between the parts', () => {
    const one = { ...identity, currency: 'USD', operatorToken: 'EURx' };
    const other = { ...identity, currency: 'USDEUR', operatorToken: 'x' };
    expect(vault.make(one)).not.toBe(vault.make(other));
    const quoted = { ...identity, currency: 'USD","x', operatorToken: 'y' };
    const unquoted = { ...identity, currency: 'USD', operatorToken: 'x","y' };
    expect(vault.make(quoted)).not.toBe(vault.make(unquoted));
  });

  it('makes other tokens under another key: without it none can be guessed', () => {
    expect(new TokenVault(Buffer.alloc(32, 8)).make(identity)).not.toBe(vault.make(identity));
  });

  it.each(['anns-own-token', '', 'caf\u00e9 \ud83d\ude00', 'x'.repeat(512)])(
    'seals %j so that it is unreadable, different each time, and comes back',
    (token) => {
      const sealed = vault.seal(token);
      expect(vault.unseal(sealed)).toBe(token);
      expect(vault.seal(token)).not.toEqual(sealed);
      if (token !== '') expect(sealed.includes(token)).toBe(false);
    },
  );

  it('notices any change of what it sealed', () => {
    const sealed = vault.seal('anns-own-token');
    for (let byte = 1; byte < sealed.length; byte += 1) {
      const changed = Buffer.from(sealed);
      changed[byte] = (changed[byte] ?? 0) ^ 1;
      expect(() => vault.unseal(changed)).toThrow();
    }
    expect(() => vault.unseal(sealed.subarray(0, -1))).toThrow();
  });

  it('cannot open what another key has sealed', () => {
    expect(() => new TokenVault(Buffer.alloc(32, 8)).unseal(vault.seal('x'))).toThrow();
  });

  it('opens what was sealed before there was a key', () => {
    expect(vault.unseal(new TokenVault(undefined).seal('anns-own-token'))).toBe('anns-own-token');
  });
});

describe('a vault without a key', () => {
  const vault = new TokenVault(undefined);

  it('makes tokens at random', () => {
    expect(vault.hasKey).toBe(false);
    const tokens = new Set(Array.from({ length: 100 }, () => vault.make(identity)));
    expect(tokens.size).toBe(100);
    for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('keeps operator tokens as they are', () => {
    expect(vault.unseal(vault.seal('anns-own-token'))).toBe('anns-own-token');
  });

  it('says what is missing when a token was sealed', () => {
    const sealed = new TokenVault(KEY).seal('anns-own-token');
    expect(() => vault.unseal(sealed)).toThrow(/ENCRYPTION_KEY/);
  });
});

it('a hash is 32 bytes, the same with and without a key', () => {
  expect(new TokenVault(KEY).hash('token')).toEqual(new TokenVault(undefined).hash('token'));
  expect(new TokenVault(KEY).hash('token')).toHaveLength(32);
});

describe('what stands for a token in a kept message', () => {
  const vault = new TokenVault(KEY);

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
