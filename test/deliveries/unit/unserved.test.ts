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

  it('is not taken for that where its operator’s rate makes it wait so long', async () => {
    const { worker, drains, operators } = unserved();
    const alpha = operators.get('alpha');
    if (alpha === undefined) throw new Error('there is no alpha');
    operators.set('alpha', { ...alpha, delivery: { ...alpha.delivery, ratePerSecond: 0.1 } });
    await passing(17_900);
    expect(await drains()).toEqual({});
    await worker.close();
  });

  it.each([
    [
      'whose oldest is another one by now',
      (look: number) => [dueIn('alpha', -5, Math.floor(look / 3))],
    ],
    [
      'that had nothing due in between',
      (look: number) => (look % 4 === 3 ? [] : [dueIn('alpha', -5)]),
    ],
  ])('is not that of an operator %s', async (_, open) => {
    const { worker, store, drains } = unserved();
    let look = 0;
    store.openOperators.mockImplementation(async () => {
      look += 1;
      return open(look);
    });
    await passing(20_000);
    expect(await drains()).toEqual({});
    await worker.close();
  });
});
