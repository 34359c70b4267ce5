import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Pace } from '../../../src/deliveries/pace.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 50_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const pace = () => new Pace({ nowMs: () => Date.now(), monotonicMs: () => Date.now() });
const FAR = 1_000_000;

describe('the pace of an operator’s calls', () => {
  it('spaces them evenly, however many ask at once, so that no second holds more', async () => {
    const even = pace();
    const began: number[] = [];
    const turns = Array.from({ length: 5 }, async () => {
      expect(await even.turn(4, FAR)).toBe(true);
      began.push(Date.now() - 50_000);
    });
    await vi.advanceTimersByTimeAsync(2_000);
    await Promise.all(turns);
    expect(began).toEqual([0, 250, 500, 750, 1_000]);
  });

  it('keeps no turns for later: a pause is not made up for', async () => {
    const even = pace();
    await even.turn(10, FAR);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(even.waitMs).toBe(0);
    expect(await even.turn(10, FAR)).toBe(true);
    expect(even.waitMs).toBe(100);
    await vi.advanceTimersByTimeAsync(40);
    expect(even.waitMs).toBe(60);
  });
});
