import { expect, it } from 'vitest';
import { LEASE_MS } from '../../../src/store/bets/lease.ts';

/** The service gives a callback up after this, and no deadline may be set higher. */
const SERVICE_LIMIT_MS = 5_000;

it('an attempt owns its bet for longer than any caller may wait, a slow commit before and after included (I6)', () => {
  expect(LEASE_MS).toBeGreaterThanOrEqual(3 * SERVICE_LIMIT_MS);
});
