import { describe, expect, it, vi } from 'vitest';
import { pullFromFuture } from '../../../src/deliveries/clock-put-back.ts';
import type { DeliveryStore } from '../../../src/store/deliveries/queue.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

/** The rules, with a store that answers as the test says; test/deliveries/clock-put-back tests it on PostgreSQL. */

type Pulled = Awaited<ReturnType<DeliveryStore['pullFromFuture']>>;

const HOUR_MS = 3_600_000;

/** @param batches what each statement finds, in turn; the last of them again and again */
async function pull(...batches: readonly Pulled[]) {
  const left = [...batches];
  const ask = vi.fn(async (_which: Parameters<DeliveryStore['pullFromFuture']>[0]) => {
    const next = left.length > 1 ? left.shift() : left[0];
    return next ?? { bets: 0, deliveries: 0 };
  });
  const warn = vi.fn();
  const clock = new TestClock();
  const store = { pullFromFuture: ask };
  await pullFromFuture({ store, clock, logger: partly({ warn }) });
  return { ask, clock, warned: warn.mock.calls };
}

describe('what waits for a time that is too far ahead', () => {
  it('is looked for beyond the longest waits that any configuration has, so that no replica undoes another’s', async () => {
    const { ask, clock, warned } = await pull({ bets: 0, deliveries: 0 });
    expect(ask).toHaveBeenCalledOnce();
    const [{ waits, now } = { waits: undefined }] = ask.mock.calls[0] ?? [];
    expect(now).toEqual(new Date(clock.nowMs()));
    expect(waits?.leaseMs).toBeLessThan(5 * 60_000);
    expect(waits?.leaseMs).toBeGreaterThan(60_000);
    expect(waits?.deliveryMs).toBe(24 * HOUR_MS + 60_000);
    expect(waits?.confirmationMs).toBe(240 * HOUR_MS + 60_000);
    expect(warned).toEqual([]);
  });

  it.each([
    { bets: 1, deliveries: 0 },
    { bets: 0, deliveries: 1 },
    { bets: 2, deliveries: 2 },
  ])('is told in the log: $bets bets, $deliveries deliveries', async (pulled) => {
    const { ask, warned } = await pull(pulled);
    expect(ask).toHaveBeenCalledOnce();
    const facts = { ...pulled, note: expect.stringContaining('PostgreSQL’s clock was put back') };
    expect(warned).toEqual([[facts, 'postgresql.clock_put_back']]);
  });

  it.each([
    ['bets', { bets: 500, deliveries: 0 }],
    ['deliveries', { bets: 0, deliveries: 500 }],
  ])('is looked for again while a statement finds as many %s as it may', async (_, full) => {
    const { ask } = await pull(full, full, { bets: 3, deliveries: 4 });
    expect(ask).toHaveBeenCalledTimes(3);
  });

  it('holds up the other duties of a sweep for ten statements at most', async () => {
    const { ask } = await pull({ bets: 500, deliveries: 500 });
    expect(ask).toHaveBeenCalledTimes(10);
  });
});
