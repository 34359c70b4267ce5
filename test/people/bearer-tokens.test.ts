import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { BearerTokens } from '../../src/people/bearer-tokens.ts';
import { Issuer, IssuerUnavailable } from '../../src/people/issuer.ts';
import { CLIENT_ID, startIssuer } from '../support/issuer.ts';

const MINUTE_MS = 60_000;

afterEach(() => {
  vi.useRealTimers();
});

/** A token that was verified some minutes ago, and whoever verifies it. */
async function verifiedBefore(minutes: number) {
  const stub = await startIssuer();
  onTestFinished(() => stub.close());
  const settings = {
    ...{ issuer: stub.url, clientId: CLIENT_ID, clientSecret: undefined },
    ...{ audience: CLIENT_ID, rolesClaim: 'roles', scopes: 'openid' },
  };
  let monotonicMs = 0;
  const clock = { nowMs: systemClock.nowMs, monotonicMs: () => monotonicMs };
  const tokens = new BearerTokens(new Issuer(settings, clock), clock);
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
