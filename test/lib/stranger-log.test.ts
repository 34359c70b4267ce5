import { expect, it } from 'vitest';
import { StrangerLog } from '../../src/lib/stranger-log.ts';
import { manualClock } from '../wallets/support/calls.ts';

it('logs a few unauthenticated callers a second, and then how many it left out', () => {
  const clock = manualClock();
  const strangers = new StrangerLog(clock);
  const flood = Array.from({ length: 1_000 }, () => strangers.next());
  expect(flood.filter((leftOut) => leftOut !== undefined)).toHaveLength(10);
  clock.advance(200);
  expect(strangers.next()).toBe(990);
  expect(strangers.next()).toBeUndefined();
  // Reported once: from then on, only those that were left out since.
  clock.advance(200);
  expect(strangers.next()).toBe(1);
});
