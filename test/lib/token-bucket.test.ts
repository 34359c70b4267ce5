import { describe, expect, it } from 'vitest';
import { TokenBuckets } from '../../src/lib/token-bucket.ts';
import { manualClock } from '../wallets/support/calls.ts';

describe('a token bucket', () => {
  const start = () => {
    const clock = manualClock();
    return { clock, buckets: new TokenBuckets(clock, { perSecond: 10, burst: 3 }) };
  };
  const takeAll = (buckets: TokenBuckets, key = 'alpha') => {
    for (let count = 0; ; count += 1) if (buckets.take(key) > 0) return count;
  };

  it('gives its burst at once, then says how long to wait', () => {
    const { buckets } = start();
    expect(takeAll(buckets)).toBe(3);
    expect(buckets.take('alpha')).toBeCloseTo(100);
  });

  it('fills at its rate, never above its burst', () => {
    const { clock, buckets } = start();
    takeAll(buckets);
    clock.advance(99);
    expect(buckets.take('alpha')).toBeCloseTo(1);
    clock.advance(101);
    expect(takeAll(buckets)).toBe(2);
    clock.advance(3_600_000);
    expect(takeAll(buckets)).toBe(3);
  });

  it('keeps the rate over a long time of greedy asking', () => {
    const { clock, buckets } = start();
    let taken = takeAll(buckets);
    for (let ms = 0; ms < 10_000; ms += 7) {
      clock.advance(7);
      taken += takeAll(buckets);
    }
    expect(taken).toBeGreaterThanOrEqual(102);
    expect(taken).toBeLessThanOrEqual(104);
  });

  it('is one per key', () => {
    const { buckets } = start();
    takeAll(buckets, 'alpha');
    expect(buckets.take('beta')).toBe(0);
  });

  it('gives several at once, all or none', () => {
    const { buckets } = start();
    expect(buckets.take('alpha', 2)).toBe(0);
    expect(buckets.take('alpha', 2)).toBeCloseTo(100);
    expect(buckets.take('alpha', 1)).toBe(0);
  });

  it('makes the next caller wait for what was spent without asking', () => {
    const { clock, buckets } = start();
    buckets.owe('alpha', 5);
    expect(buckets.take('alpha')).toBeCloseTo(300);
    clock.advance(301);
    expect(buckets.take('alpha')).toBe(0);
    expect(buckets.take('beta')).toBe(0);
  });

  it('gives more than a full one holds from a full one, which then owes the rest', () => {
    const { clock, buckets } = start();
    expect(buckets.take('alpha', 13)).toBe(0);
    expect(buckets.take('alpha')).toBeCloseTo(1_100);
    clock.advance(1_101);
    expect(takeAll(buckets)).toBe(1);
    expect(buckets.take('alpha', 13)).toBeGreaterThan(0);
  });
});
