import { generateKeyPairSync } from 'node:crypto';
import { generateKeyPair } from 'jose';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { BearerTokens } from '../../src/people/bearer-tokens.ts';
import { Issuer, IssuerUnavailable } from '../../src/people/issuer.ts';
import { IssuerKeys } from '../../src/people/issuer-keys.ts';
import { CLIENT_ID, startIssuer } from '../support/issuer.ts';

const MINUTE_MS = 60_000;

afterEach(() => {
  vi.useRealTimers();
});

async function verifier(clock: Clock) {
  const stub = await startIssuer();
  onTestFinished(() => stub.close());
  const settings = {
    ...{ issuer: stub.url, clientId: CLIENT_ID, clientSecret: undefined },
    ...{ audience: CLIENT_ID, rolesClaim: 'roles', rolesPrefix: '', scopes: 'openid' },
  };
  return {
    stub,
    tokens: new BearerTokens(new Issuer(settings, clock), new IssuerKeys(clock), clock),
  };
}

/** A token that was verified some minutes ago, and its verifier. */
async function verifiedBefore(minutes: number) {
  let monotonicMs = 0;
  const clock = { nowMs: systemClock.nowMs, monotonicMs: () => monotonicMs };
  const { stub, tokens } = await verifier(clock);
  const token = await stub.token({ exp: Math.floor(Date.now() / 1000) + 7_200 });
  expect(await tokens.verify(token)).toMatchObject({ kind: 'verified' });
  monotonicMs += minutes * MINUTE_MS;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * MINUTE_MS });
  return { stub, verify: () => tokens.verify(token) };
}

describe.each(['isAway', 'showsPage'] as const)(
  'an issuer whose keys cannot be read: %s',
  (how) => {
    it('is believed by its last ones', async () => {
      const { stub, verify } = await verifiedBefore(15);
      stub[how] = true;
      expect(await verify()).toMatchObject({ kind: 'verified' });
      expect(stub.asked.get('/jwks')).toBe(2);
    });

    it('is believed no more after an hour, which is no refusal of the token', async () => {
      const { stub, verify } = await verifiedBefore(61);
      stub[how] = true;
      await expect(verify()).rejects.toBeInstanceOf(IssuerUnavailable);
    });
  },
);

// A `kid` is required only among several keys (OpenID Connect Core, 10.1), and some issuers never change theirs.
describe.each([
  ['without a kid', { kid: null }],
  ['with the kid of the key before', {}],
] as const)('a new key whose tokens come %s', (_, options) => {
  it('is followed at once, and the old one is not believed any more', async () => {
    const { stub, tokens } = await verifier(systemClock);
    const old = await stub.token({}, options);
    expect(await tokens.verify(old)).toMatchObject({ kind: 'verified' });

    await stub.rotate({ sameKid: true });

    const both = [await stub.token({}, options), await stub.token({ sub: 'another' }, options)];
    const verified = await Promise.all(both.map((token) => tokens.verify(token)));
    expect(verified.map(({ kind }) => kind)).toEqual(['verified', 'verified']);
    expect(await tokens.verify(old)).toMatchObject({ kind: 'refused' });
  });

  it('lets strangers make the issuer be asked no oftener than made-up names do', async () => {
    const { stub, tokens } = await verifier(systemClock);
    const { privateKey: key } = await generateKeyPair('RS256');
    for (let at = 0; at < 40; at += 1) {
      const forged = await stub.token({}, { ...options, key });
      expect(await tokens.verify(forged)).toMatchObject({ kind: 'refused' });
    }
    expect(stub.asked.get('/jwks')).toBeLessThan(8);
    expect(await tokens.verify(await stub.token({}, options))).toMatchObject({ kind: 'verified' });
  });
});

it('a key that can verify nothing hinders no token that another key signed and that names none', async () => {
  const { stub, tokens } = await verifier(systemClock);
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const short = { ...publicKey.export({ format: 'jwk' }), kty: 'RSA', use: 'sig' };
  stub.strangeKeys = [short, { kty: 'AKP', alg: 'ML-DSA-44', pub: 'AAAA' }, { kty: 'new' }];
  const own = await stub.token({}, { kid: null });
  expect(await tokens.verify(own)).toMatchObject({ kind: 'verified' });
  const { privateKey: key } = await generateKeyPair('RS256');
  const forged = await stub.token({}, { kid: null, key });
  expect(await tokens.verify(forged)).toMatchObject({ kind: 'refused' });
});

it('an issuer that has never answered is asked once in five seconds, however many strangers bring tokens (I7)', async () => {
  let monotonicMs = 0;
  const clock = { nowMs: systemClock.nowMs, monotonicMs: () => monotonicMs };
  const { stub, tokens } = await verifier(clock);
  const token = await stub.token({});
  const asked = () => stub.asked.get('/.well-known/openid-configuration');
  stub.isAway = true;
  for (let at = 0; at < 10; at += 1) {
    await expect(tokens.verify(token)).rejects.toBeInstanceOf(IssuerUnavailable);
  }
  expect(asked()).toBe(1);
  stub.isAway = false;
  monotonicMs += 4_999;
  await expect(tokens.verify(token)).rejects.toBeInstanceOf(IssuerUnavailable);
  monotonicMs += 1;
  expect(await tokens.verify(token)).toMatchObject({ kind: 'verified' });
  expect(asked()).toBe(2);
});
