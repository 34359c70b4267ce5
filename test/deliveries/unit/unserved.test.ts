import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withRedis } from '../support/scheduler-scene.ts';
import { dueIn, workerOf } from '../support/worker-scene.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setImmediate'] });
});
afterEach(() => {
  vi.useRealTimers();
  withRedis();
});

const passing = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('a drain that Redis accepts and gives to no worker', () => {
  function unserved() {
    const scene = workerOf();
    scene.store.openOperators.mockResolvedValue([dueIn('alpha', -5)]);
    scene.worker.start();
    return scene;
  }

  it('is made by every process at each sweep, once its operator has stood still for 8 s (I4)', async () => {
    const { worker, drains, logger, backends } = unserved();
    backends[1]?.emit('error', new Error('NOPERM'));
    await passing(7_900);
    expect(await drains()).toEqual({});
    await passing(3_000);
    expect(await drains()).toEqual({ sweep: 3 });
    expect(logger.warn.mock.calls).toEqual([
      [
        {
          operator: 'alpha',
          error: 'NOPERM',
          note: 'Redis hands its drain to no worker: this process drains it',
        },
        'scheduler.unserved',
      ],
    ]);
    await worker.close();
  });

  it('is left to the scheduler again as soon as that gives it to somebody here', async () => {
    const { worker, drains, work } = unserved();
    await passing(8_010);
    expect(await drains()).toEqual({ sweep: 1 });
    const working = work({ name: 'drain', data: { operatorId: 'alpha' }, moveToDelayed: vi.fn() });
    await passing(1_000);
    await working;
    await passing(3_000);
    expect(await drains()).toEqual({ sweep: 1, scheduler: 1 });
    await worker.close();
  });
});
