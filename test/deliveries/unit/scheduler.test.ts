import { DelayedError } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { schedulerOf, withRedis } from '../support/scheduler-scene.ts';

/** What BullMQ is asked; its queue and worker run without Redis here. `redis.test.ts` has the real one. */

beforeEach(() => {
  vi.useFakeTimers({ now: 5_000, toFake: ['Date', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  withRedis();
});

const due = (operatorId: string) => ({ operatorId, inMs: -5 });
const nothingLeft = async () => undefined;
const never = () => new Promise<never>(() => undefined);

describe('an operator’s drain', () => {
  it('is one job from when its earliest delivery is due, tried again by BullMQ, and leaves nothing behind', async () => {
    const { scheduler, armed } = schedulerOf(nothingLeft);
    expect(await scheduler.arm([due('alpha'), { operatorId: 'beta', inMs: 1.2 }])).toBe(true);
    const job = (operatorId: string, delay: number) => ({
      ...{ name: 'drain', data: { operatorId } },
      opts: {
        ...{ jobId: `drain-${operatorId}`, delay, attempts: 3 },
        backoff: { type: 'fixed', delay: 1_000 },
        ...{ removeOnComplete: true, removeOnFail: true },
      },
    });
    expect(armed()).toEqual([job('alpha', 0), job('beta', 2)]);
  });

  it('is not armed where Redis does not take it, or not within half a second (I4)', async () => {
    const { scheduler, addBulk, logger } = schedulerOf(nothingLeft);
    addBulk.mockRejectedValueOnce(new Error('away'));
    expect(await scheduler.arm([due('alpha')])).toBe(false);
    addBulk.mockImplementationOnce(never);
    const armed = scheduler.arm([due('alpha')]);
    await vi.advanceTimersByTimeAsync(500);
    expect(await armed).toBe(false);
    addBulk.mockRejectedValueOnce('odd');
    expect(await scheduler.arm([due('alpha')])).toBe(false);
    // Readiness does not cover the queue, so a process that may not write to it logs that each time.
    expect(logger.warn.mock.calls).toEqual([[{ error: 'away' }, 'scheduler.not_armed']]);
    expect(logger.debug.mock.calls).toEqual(
      ['gave up after 500 ms', 'odd'].map((error) => [{ error }, 'scheduler.not_armed']),
    );
    expect(await scheduler.arm([due('alpha')])).toBe(true);
    addBulk.mockRejectedValueOnce(new Error('away'));
    await scheduler.arm([due('alpha')]);
    expect(logger.warn).toHaveBeenCalledTimes(2);
  });
});

describe('a worker', () => {
  it('drains the operator that the job names, and is done where nothing is left', async () => {
    const drain = vi.fn(nothingLeft);
    const moveToDelayed = vi.fn();
    const { work, addBulk } = schedulerOf(drain);
    await work({ name: 'drain', data: { operatorId: 'alpha' }, moveToDelayed }, 'token');
    expect(drain.mock.calls).toEqual([['alpha']]);
    expect(moveToDelayed).not.toHaveBeenCalled();
    expect(addBulk).not.toHaveBeenCalled();
  });

  it('puts it at the end of the queue if more is left, so that others have their turn (I7)', async () => {
    const moveToDelayed = vi.fn();
    const { work } = schedulerOf(async () => 250.2);
    const working = work({ name: 'drain', data: { operatorId: 'alpha' }, moveToDelayed }, 'token');
    await expect(working).rejects.toBeInstanceOf(DelayedError);
    expect(moveToDelayed.mock.calls).toEqual([[5_251, 'token']]);
  });
});

describe('the queue in Redis', () => {
  it('takes jobs at once or not at all, and never waits for a Redis that is away', () => {
    const { queue, worker } = schedulerOf(nothingLeft);
    expect(queue.connection.options).toMatchObject({
      ...{ enableOfflineQueue: false, maxRetriesPerRequest: 0, socketTimeout: 5_000 },
      host: 'redis.example',
    });
    expect(queue.options).toMatchObject({ skipWaitingForReady: true, skipVersionCheck: true });
    expect(worker.connection.options).toMatchObject({ maxRetriesPerRequest: null });
    expect(worker.connection).not.toBe(queue.connection);
  });

  it('gives the drain of a dead worker to another within ten seconds, as often as it takes (I4)', () => {
    const { lockDuration, stalledInterval, maxStalledCount, drainDelay, concurrency } =
      schedulerOf(nothingLeft).worker.options;
    expect(Number(lockDuration) + Number(stalledInterval)).toBeLessThan(10_000);
    // A slice lasts a second, and its lock must last far longer.
    expect(lockDuration).toBeGreaterThan(5_000);
    expect(stalledInterval).toBeGreaterThan(1_000);
    expect(maxStalledCount).toBe(Number.MAX_SAFE_INTEGER);
    expect(drainDelay).toBe(1);
    // The drains of a thousand operators take turns; one that hangs holds up no others.
    expect(concurrency).toBe(200);
  });
});

describe('a scheduler that is closed', () => {
  it('waits for the slices under way, and then lets go of both connections', async () => {
    const slice = Promise.withResolvers<undefined>();
    const { scheduler, work, closed, disconnect, logger } = schedulerOf(() => slice.promise);
    const working = work({ name: 'drain', data: { operatorId: 'alpha' } });
    let hasClosed = false;
    const closing = scheduler.close().then(() => {
      hasClosed = true;
    });
    await vi.advanceTimersByTimeAsync(20_000);
    expect([closed.worker, closed.queue].map((close) => close.mock.calls.length)).toEqual([1, 1]);
    expect([hasClosed, disconnect.mock.calls.length]).toEqual([false, 0]);
    slice.resolve(undefined);
    await working;
    await closing;
    expect(disconnect).toHaveBeenCalledTimes(2);
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('waits a second for a Redis that is away, and no longer', async () => {
    const { scheduler, closed, disconnect, logger } = schedulerOf(nothingLeft);
    closed.worker.mockImplementationOnce(never);
    const closing = scheduler.close();
    await vi.advanceTimersByTimeAsync(999);
    expect(disconnect).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await closing;
    expect(disconnect).toHaveBeenCalledTimes(2);
    expect(logger.warn.mock.calls).toEqual([
      [{ error: 'gave up after 1000 ms' }, 'scheduler.not_closed'],
    ]);
  });
});
