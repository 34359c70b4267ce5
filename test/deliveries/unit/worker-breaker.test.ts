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

  it('to half-open leaves it to live calls first, and then makes one delivery due', async () => {
    const { breaker, store, drainsAskedFor } = workerOf({ breakerState: 'half_open' });
    breaker(change('half_open'));
    await passing(4_990);
    expect(store.nudge).not.toHaveBeenCalled();
    await passing();
    expect(store.nudge.mock.calls).toEqual([['alpha']]);
    expect(store.wake).not.toHaveBeenCalled();
    expect(drainsAskedFor()).toEqual(['alpha']);
  });

  it('to closed makes everything due that waits for a back-off', async () => {
    const { breaker, store, drainsAskedFor } = workerOf();
    breaker(change('closed'));
    await passing();
    expect(store.wake.mock.calls).toEqual([['alpha', 5_000]]);
    expect(store.nudge).not.toHaveBeenCalled();
    expect(drainsAskedFor()).toEqual(['alpha']);
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
});
