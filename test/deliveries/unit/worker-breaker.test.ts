import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BreakerChange } from '../../../src/wallets/wallets.ts';
import { withRedis } from '../support/scheduler-scene.ts';
import { dueIn, workerOf } from '../support/worker-scene.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setImmediate'] });
});
afterEach(() => {
  vi.useRealTimers();
  withRedis();
});

const passing = (ms = 10) => vi.advanceTimersByTimeAsync(ms);

describe('a breaker that changes', () => {
  const change = (state: BreakerChange['state'], more: Partial<BreakerChange> = {}) => ({
    ...{ operatorId: 'alpha', callClass: 'money' as const, state },
    ...more,
  });

  it('to half-open leaves it to live calls first, and then makes one delivery due, of the present wallet', async () => {
    const { breaker, store, drainsAskedFor } = workerOf({ breakerState: 'half_open' });
    breaker(change('half_open'));
    await passing(4_990);
    expect(store.nudge).not.toHaveBeenCalled();
    await passing();
    expect(store.nudge.mock.calls).toEqual([['alpha', 3]]);
    expect(store.wake).not.toHaveBeenCalled();
    expect(drainsAskedFor()).toEqual(['alpha']);
  });

  it('to half-open needs no delivery where a live call has closed or opened it by then', async () => {
    const { breaker, store } = workerOf({ breakerState: 'open' });
    breaker(change('half_open'));
    await passing(6_000);
    expect(store.nudge).not.toHaveBeenCalled();
  });

  it('to half-open waits for nobody if no callbacks come', async () => {
    const { breaker, store } = workerOf({ breakerState: 'half_open', hasLiveCalls: false });
    breaker(change('half_open'));
    await passing();
    expect(store.nudge).toHaveBeenCalledOnce();
  });

  it('to closed makes everything due that waits for a back-off', async () => {
    const { breaker, store, drainsAskedFor } = workerOf();
    breaker(change('closed'));
    await passing();
    expect(store.wake.mock.calls).toEqual([['alpha', 5_000]]);
    expect(store.nudge).not.toHaveBeenCalled();
    expect(drainsAskedFor()).toEqual(['alpha']);
  });

  it('to closed again within a minute wakes nothing: that may have opened it again', async () => {
    const { breaker, store, clock, drainsAskedFor } = workerOf();
    for (const state of ['open', 'closed', 'open', 'closed'] as const) {
      breaker(change(state));
      await passing();
    }
    expect(store.wake).toHaveBeenCalledOnce();
    expect(drainsAskedFor()).toEqual(['alpha', 'alpha']);
    clock.atMs += 60_000;
    breaker(change('closed'));
    await passing();
    expect(store.wake).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['maintenance', 'maintenance' as const],
    ['a hold', undefined],
  ])(
    'to half-open during %s wakes all when people let it go on, however often it has flapped',
    async (_, refusal) => {
      const { worker, breaker, store, refusals } = workerOf();
      store.openOperators.mockResolvedValue([dueIn('alpha', 100_000, 107_000)]);
      for (const state of ['open', 'closed', 'open'] as const) breaker(change(state));
      await passing();
      store.wake.mockClear();
      if (refusal === undefined) store.heldByPeople.mockResolvedValue(['alpha']);
      else refusals.set('alpha', refusal);
      worker.start();
      breaker(change('half_open'));
      await passing(1_500);
      expect(store.wake).not.toHaveBeenCalled();
      store.heldByPeople.mockResolvedValue([]);
      refusals.clear();
      await passing(1_500);
      expect(store.wake.mock.calls).toEqual([['alpha', 5_000]]);
      await worker.close();
    },
  );

  it.each([
    ['to open', change('open')],
    ['for reads alone', change('closed', { callClass: 'read' })],
    ['for reads alone', change('half_open', { callClass: 'read' })],
    ['of an operator whose file is gone', change('half_open', { operatorId: 'gone' })],
  ])('%s asks for nothing', async (_, of) => {
    const { breaker, store, addBulk, logger } = workerOf();
    breaker(of);
    await passing();
    expect(logger.warn).not.toHaveBeenCalled();
    expect([store.nudge, store.wake, addBulk].map((one) => one.mock.calls)).toEqual([[], [], []]);
  });

  it('is followed up by the sweep where PostgreSQL is away just then', async () => {
    const { breaker, store, logger } = workerOf();
    const gone = new Error('gone');
    store.wake.mockRejectedValueOnce(gone);
    breaker(change('closed'));
    await passing();
    expect(logger.warn.mock.calls).toEqual([
      [{ err: gone, duty: 'breaker' }, 'deliveries.duty_failed'],
    ]);
  });
});
