import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withRedis } from '../support/scheduler-scene.ts';
import { dueIn, NOTHING_OPEN, workerOf } from '../support/worker-scene.ts';

/** When a worker does its duties, with parts that behave as the test says; other files use the real ones. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setImmediate'] });
});
afterEach(() => {
  vi.useRealTimers();
  withRedis();
});

const SWEEP_MS = 1_000;
/** Lets this many sweeps begin, and their work end. */
const sweeps = async (count: number) => {
  await vi.advanceTimersByTimeAsync(SWEEP_MS * (count - 1) + 10);
};
const another = () => vi.advanceTimersByTimeAsync(SWEEP_MS);

const EVERY_SWEEP = ['recover', 'confirm', 'arm'];
const WITH_THE_SLOWER = ['recover', 'originate', 'arm', 'confirm', 'count'];

describe('a sweep', () => {
  it('begins with the worker, comes every second, and does the slower duties every other (I4)', async () => {
    const { worker, duties, run } = workerOf();
    await vi.advanceTimersByTimeAsync(5_000);
    expect([duties, run.mock.calls.length]).toEqual([[], 0]);
    worker.start();
    expect(run).toHaveBeenCalledOnce();
    await sweeps(1);
    expect(duties).toEqual(WITH_THE_SLOWER);
    await another();
    expect(duties).toEqual([...WITH_THE_SLOWER, ...EVERY_SWEEP]);
    await another();
    expect(duties).toEqual([...WITH_THE_SLOWER, ...EVERY_SWEEP, ...WITH_THE_SLOWER]);
    await worker.close();
  });

  it('does each duty, even if all of them fail, and says so (I4)', async () => {
    const scene = workerOf();
    const { worker, store, recoverLapsed, due, logger } = scene;
    const broken = new Error('broken');
    for (const part of [recoverLapsed, due, store.overdueUnknown, store.heldByPeople]) {
      part.mockRejectedValueOnce(broken);
    }
    store.countableUntil.mockRejectedValueOnce(broken);
    worker.start();
    await sweeps(1);
    expect(logger.warn.mock.calls).toEqual(
      ['recover', 'arm', 'originate', 'count', 'confirm'].map((duty) => [
        { err: broken, duty },
        'deliveries.duty_failed',
      ]),
    );
    await another();
    expect(scene.duties).toEqual(EVERY_SWEEP);
    await worker.close();
  });

  it('shows as held what its operator takes no calls for', async () => {
    const { worker, backlog, logger, metrics, refusals } = workerOf();
    refusals.set('beta', 'maintenance');
    const waiting = ['alpha', 'beta', 'gone'].map((operator) => ({
      ...{ operator, operation: 'rollback', state: 'pending', count: 1, isAtLeast: false },
      ...{ sinceMs: 0, nowMs: 1_000 },
    }));
    backlog.look.mockResolvedValue({ ...NOTHING_OPEN, waiting });
    worker.start();
    await sweeps(1);
    const { values } = await metrics.deliveries.get();
    expect(values.map(({ labels }) => `${labels.operator} ${labels.state}`)).toEqual([
      ...['alpha pending', 'beta held', 'gone held'],
    ]);
    // A missing file is an error of its own.
    const told = { operator: 'gone', openDeliveries: 1, unresolvedBets: 0 };
    expect(logger.error.mock.calls).toEqual([
      [expect.objectContaining(told), 'operator.file_missing'],
    ]);
    await worker.close();
  });
});

describe('what a killed process left in flight', () => {
  const lapsed = (transactionId: string, operation: 'place' | 'confirm' = 'place') => ({
    ...{ transactionId, operatorId: 'alpha', operation },
  });

  it('is unknown from now on, counted and told, in as many batches as it takes (I2)', async () => {
    const { worker, recoverLapsed, logger, metrics } = workerOf();
    recoverLapsed
      .mockResolvedValueOnce(Array.from({ length: 500 }, (_, at) => lapsed(`bet-${at}`)))
      .mockResolvedValueOnce([{ ...lapsed('unowned'), operatorId: undefined }]);
    worker.start();
    await sweeps(1);
    expect(recoverLapsed.mock.calls).toEqual([[500], [500]]);
    expect(logger.warn).toHaveBeenCalledTimes(501);
    expect(logger.warn.mock.calls.at(-2)).toEqual([
      {
        ...{ operator: 'alpha', operation: 'place', transactionId: 'bet-499' },
        why: 'its process is gone, or PostgreSQL did not take its outcome',
      },
      'bet.outcome_unknown',
    ]);
    expect(logger.warn.mock.calls.at(-1)?.[0]).toMatchObject({ operator: 'unknown' });
    const { values } = await metrics.unknownOutcomes.get();
    expect(values.map(({ labels, value }) => [labels.operator, labels.operation, value])).toEqual([
      ['alpha', 'place', 500],
      ['unknown', 'place', 1],
    ]);
    await worker.close();
  });
});

describe('an operator with deliveries', () => {
  it('is drained when one is due, which BullMQ waits for if it is soon', async () => {
    const { worker, store, armed } = workerOf();
    store.openOperators.mockResolvedValue([dueIn('alpha', 0), dueIn('beta', 1)]);
    worker.start();
    await sweeps(1);
    expect(armed().map(({ opts }) => [opts?.jobId, opts?.delay])).toEqual([
      ['drain-alpha', 0],
      ['drain-beta', 1],
    ]);
    await worker.close();
  });

  it('that takes no calls is neither drained nor woken, and its horizon stands still (I4)', async () => {
    const { worker, store, refusals, addBulk } = workerOf();
    refusals.set('alpha', 'breaker');
    store.openOperators.mockResolvedValue([dueIn('alpha', -5), dueIn('gone', 20)]);
    worker.start();
    await sweeps(2);
    expect(store.countHeld.mock.calls).toEqual([[['alpha', 'gone']], [['alpha', 'gone']]]);
    expect(addBulk).not.toHaveBeenCalled();
    expect(store.wake).not.toHaveBeenCalled();
    await worker.close();
  });

  it('that takes calls again is woken whole, and waits for no back-off', async () => {
    const { worker, store, refusals, drainsAskedFor } = workerOf();
    refusals.set('alpha', 'maintenance');
    store.openOperators.mockResolvedValue([dueIn('alpha', 50_000)]);
    worker.start();
    await sweeps(1);
    refusals.clear();
    store.wake.mockResolvedValueOnce(5_000).mockResolvedValueOnce(4_999);
    await another();
    expect(store.wake.mock.calls).toEqual([
      ['alpha', 5_000],
      ['alpha', 5_000],
    ]);
    expect(drainsAskedFor()).toEqual(['alpha']);
    await another();
    expect(store.wake).toHaveBeenCalledTimes(2);
    await worker.close();
  });
});
