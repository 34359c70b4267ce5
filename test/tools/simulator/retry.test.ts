import { expect, it } from 'vitest';
import { RETRIES_MAX, retryIntervalMs } from '../../../tools/simulator/retry.ts';

it('repeats over about six minutes with doubling intervals (docs/protocol.md, Events)', () => {
  const intervals = Array.from({ length: RETRIES_MAX }, (_, n) => retryIntervalMs(n + 1));
  const totalMs = intervals.reduce((sum, intervalMs) => sum + intervalMs, 0);
  expect(totalMs / 60_000).toBeCloseTo(6, 1);
  expect(intervals.slice(1).every((one, n) => one === 2 * (intervals[n] ?? 0))).toBe(true);
});
