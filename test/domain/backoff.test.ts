import fc from 'fast-check';
import { expect, it } from 'vitest';
import { backoffMs } from '../../src/domain/backoff.ts';

const LIMITS = { minBackoffMs: 1_000, maxBackoffMs: 300_000 };

it.each([
  [1, 2_000],
  [2, 4_000],
  [3, 8_000],
  [8, 256_000],
  [9, 300_000],
  [1_000_000, 300_000],
])('after %i attempts waits at most %i ms', (attempts, ceilingMs) => {
  expect(backoffMs(attempts, LIMITS, 1 - Number.EPSILON)).toBe(ceilingMs);
});

it('never leaves the limits it was given, whatever the luck (I4)', () => {
  const limits = fc
    .tuple(fc.integer({ min: 1, max: 600_000 }), fc.integer({ min: 1, max: 600_000 }))
    .map(([a, b]) => ({ minBackoffMs: Math.min(a, b), maxBackoffMs: Math.max(a, b) }));
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1 }), limits, random, (attempts, given, luck) => {
      const waitMs = backoffMs(attempts, given, luck);
      return (
        Number.isSafeInteger(waitMs) && waitMs >= given.minBackoffMs && waitMs <= given.maxBackoffMs
      );
    }),
  );
});
