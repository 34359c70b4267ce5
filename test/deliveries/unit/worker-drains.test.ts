import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withRedis } from '../support/scheduler-scene.ts';
import { claim } from '../support/slice-scene.ts';
import { dueIn, workerOf } from '../support/worker-scene.ts';

/** Which drains a worker requests and performs, with parts that behave as the test says. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setImmediate'] });
});
afterEach(() => {
  vi.useRealTimers();
  withRedis();
});

const passing = (ms = 10) => vi.advanceTimersByTimeAsync(ms);
const drainOf = (operatorId: string, moveToDelayed = vi.fn()) => ({
  ...{ name: 'drain', data: { operatorId }, moveToDelayed },
});

describe('without Redis', () => {
  function withoutScheduler() {
    const scene = workerOf();
    scene.addBulk.mockRejectedValue(new Error('away'));
    scene.store.openOperators.mockResolvedValue([dueIn('alpha', -5), dueIn('beta', -5)]);
    return scene;
  }

  it('every process drains what it sees, a slice of each operator (I4)', async () => {
    const { worker, store, drains } = withoutScheduler();
    worker.start();
    await passing();
    expect(store.take.mock.calls.map(([id, { generation }]) => [id, generation])).toEqual([
      ['alpha', 3],
      ['beta', 3],
    ]);
    expect(await drains()).toEqual({ sweep: 2 });
    await worker.close();
  });

  it('it runs one drain of an operator at a time, however many sweeps pass (I5)', async () => {
    const { worker, store } = withoutScheduler();
    const slow = Promise.withResolvers<ReturnType<typeof claim>>();
    store.take.mockImplementation((id) =>
      id === 'alpha' ? slow.promise : Promise.resolve(claim()),
    );
    worker.start();
    await passing(3_010);
    const asked = () => store.take.mock.calls.filter(([id]) => id === 'alpha').length;
    expect(asked()).toBe(1);
    slow.resolve(claim());
    await passing(1_000);
    expect(asked()).toBe(2);
    await worker.close();
  });

  it('a worker that is to stop ends with its slices, and begins none', async () => {
    const { worker, store } = withoutScheduler();
    const slow = Promise.withResolvers<ReturnType<typeof claim>>();
    store.take.mockImplementation(() => slow.promise);
    worker.start();
    await passing();
    expect(store.take).toHaveBeenCalledTimes(2);
    const look = Promise.withResolvers<[]>();
    store.heldByPeople.mockImplementationOnce(() => look.promise);
    await passing(1_000);
    let hasClosed = false;
    const closing = worker.close().then(() => {
      hasClosed = true;
    });
    look.resolve([]);
    await passing(5_000);
    expect(hasClosed).toBe(false);
    slow.resolve(claim());
    await closing;
    expect(store.take).toHaveBeenCalledTimes(2);
  });
});

describe('a drain that the scheduler asks for', () => {
  it('comes back when its operator’s pace allows, which is kept from slice to slice (I7)', async () => {
    const { worker, work, store, operators, clock, finished } = workerOf();
    const alpha = operators.get('alpha');
    if (alpha === undefined) throw new Error('there is no alpha');
    operators.set('alpha', { ...alpha, delivery: { ...alpha.delivery, ratePerSecond: 0.5 } });
    store.take.mockImplementation(async () => claim(finished.length + 1));
    worker.start();
    const more = async () => {
      const job = drainOf('alpha');
      const working = work(job).catch(() => undefined);
      await passing();
      await working;
      return job.moveToDelayed.mock.calls.map(([at]) => at - Date.now());
    };
    const delays = [await more()];
    clock.atMs += 500;
    delays.push(await more());
    // Its turn comes 2 s after the previous one, whichever slice that was in.
    expect(finished).toEqual(['bet-1']);
    expect(delays.map(([delay]) => Math.round((delay ?? 0) / 100) * 100)).toEqual([2_000, 1_500]);
    await worker.close();
  });

  it('does not start beside one under way, and does not come back for it (I5)', async () => {
    const { worker, work, store } = workerOf();
    const slow = Promise.withResolvers<ReturnType<typeof claim>>();
    store.take.mockImplementationOnce(() => slow.promise);
    worker.start();
    const first = work(drainOf('alpha'));
    await passing();
    const twin = drainOf('alpha');
    await work(twin);
    expect(twin.moveToDelayed).not.toHaveBeenCalled();
    expect(store.take).toHaveBeenCalledOnce();
    slow.resolve(claim());
    await passing();
    await first;
    const later = work(drainOf('alpha'));
    await passing();
    await later;
    expect(store.take).toHaveBeenCalledTimes(2);
    await worker.close();
  });
});

describe('a worker that is closed', () => {
  it('waits for its sweep and for its counts, sweeps no more and ignores breakers', async () => {
    const { worker, store, due, duties, listeners, closed } = workerOf();
    const sweep = Promise.withResolvers<never[]>();
    const count = Promise.withResolvers<Date>();
    due.mockImplementationOnce(() => sweep.promise);
    store.countableUntil.mockImplementationOnce(() => count.promise);
    worker.start();
    await passing();
    let hasClosed = false;
    const closing = worker.close().then(() => {
      hasClosed = true;
    });
    expect(listeners.size).toBe(0);
    await passing(5_000);
    expect([hasClosed, closed.worker.mock.calls.length]).toEqual([false, 0]);
    sweep.resolve([]);
    await passing(5_000);
    expect(store.countableUntil).toHaveBeenCalledOnce();
    count.resolve(new Date(0));
    await closing;
    expect(closed.worker).toHaveBeenCalledOnce();
    await passing(5_000);
    expect(duties.filter((duty) => duty === 'recover')).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
