import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('measures by a clock that goes on while the one on the wall is set back', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
  expect(systemClock.nowMs()).toBe(1_000_000);
  const before = systemClock.monotonicMs();
  expect(before).toBeGreaterThan(0);
  vi.setSystemTime(1_000);
  expect(systemClock.nowMs()).toBe(1_000);
  expect(systemClock.monotonicMs()).toBeGreaterThanOrEqual(before);
});
