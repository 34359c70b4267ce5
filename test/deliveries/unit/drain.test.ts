import { describe, expect, it, vi } from 'vitest';
import { areHeld, type Draining, drain } from '../../../src/deliveries/drain.ts';
import { Pace } from '../../../src/deliveries/pace.ts';
import type { NotSentReason } from '../../../src/domain/wallet-answer.ts';
import { partly } from '../../support/partly.ts';
import { accepted, claim, endless, notSent, partsOf } from '../support/slice-scene.ts';

/** The beginning and the end of a slice; the slice itself is in `slice.test.ts`. */

interface Operator {
  refusal?: NotSentReason | undefined;
  isHeldByPerson?: boolean;
  isConfigured?: boolean;
  hasWallet?: boolean;
  isStopping?: boolean;
}

function drainOf(parts: ReturnType<typeof partsOf>, operator: Operator = {}) {
  const refusal = vi.fn(() => operator.refusal);
  const draining = partly<Draining>({
    ...parts.slicing,
    configuration: () => ({
      ...parts.slicing.configuration(),
      operators: new Map(operator.isConfigured === false ? [] : [['alpha', parts.operator]]),
    }),
    wallets: {
      get: (id: string) =>
        operator.hasWallet === false || id !== 'alpha' ? undefined : { ...parts.wallet, refusal },
    },
    isHeldByPerson: (id: string) => id === 'alpha' && operator.isHeldByPerson === true,
  });
  const pace = new Pace(parts.clock);
  const run = () => drain(draining, 'alpha', pace, () => operator.isStopping === true);
  return { run, draining, refusal, ...parts };
}

const nothingTaken = () => partsOf(async () => claim(), accepted);

describe('an operator’s deliveries are held', () => {
  it.each<[string, Operator]>([
    ['has no file', { hasWallet: false }],
    ['is held by a person', { isHeldByPerson: true }],
    ['has an open breaker', { refusal: 'breaker' }],
    ['is in maintenance', { refusal: 'maintenance' }],
    ['has a wallet that takes no rollback for being suspended', { refusal: 'suspended' }],
  ])('where it %s (I4)', async (_, operator) => {
    const { run, draining, slicing } = drainOf(nothingTaken(), operator);
    expect(areHeld(draining, 'alpha')).toBe(true);
    expect(await run()).toBeUndefined();
    expect(slicing.store.take).not.toHaveBeenCalled();
  });

  it('by what holds its money, and not by a full bulkhead, which passes by itself', async () => {
    const { run, draining, refusal, slicing } = drainOf(nothingTaken(), { refusal: 'bulkhead' });
    expect(areHeld(draining, 'alpha')).toBe(false);
    expect(refusal.mock.calls).toEqual([['rollback']]);
    expect(await run()).toBeUndefined();
    expect(slicing.store.take).toHaveBeenCalledOnce();
  });
});

describe('a drain', () => {
  it('ends after a second, so that the others have their turn, and comes back at once (I7)', async () => {
    const { take } = endless();
    let calls = 0;
    const parts = partsOf(
      take,
      async () => {
        calls += 1;
        parts.clock.atMs += 300;
        return await accepted();
      },
      { concurrency: 1 },
    );
    expect(await drainOf(parts).run()).toBe(0);
    // They began after 0, 300, 600 and 900 ms.
    expect(calls).toBe(4);
    expect(parts.finished).toHaveLength(4);
  });

  it('leaves the process to live calls, and comes back at its next turn (I7)', async () => {
    const parts = partsOf(endless().take, accepted);
    const { liveCalls, store } = parts.slicing;
    await liveCalls.begin(async () => undefined);
    while (liveCalls.waitMs < 2_000) liveCalls.turn(1_000, Number.POSITIVE_INFINITY);
    expect(await drainOf(parts).run()).toBe(liveCalls.waitMs);
    expect(store.take).not.toHaveBeenCalled();
  });

  it('is over when nothing is due any more', async () => {
    let claims = 0;
    const parts = partsOf(async () => {
      claims += 1;
      return claims === 1 ? claim(1, 2) : claim();
    }, accepted);
    expect(await drainOf(parts).run()).toBeUndefined();
    expect(parts.finished.toSorted()).toEqual(['bet-1', 'bet-2']);
  });

  it('ends where the operator takes no calls any more, whatever else ended it (I4)', async () => {
    const { take } = endless();
    const operator: Operator = {};
    const parts = partsOf(
      take,
      async () => {
        operator.refusal = 'breaker';
        return await notSent();
      },
      { concurrency: 1 },
    );
    expect(await drainOf(parts, operator).run()).toBeUndefined();
    expect(parts.slicing.store.take).toHaveBeenCalledOnce();
  });

  it('stops claiming in the moment when the operator is held, before any call says so', async () => {
    const { take } = endless();
    const operator: Operator = {};
    const parts = partsOf(
      take,
      async () => {
        operator.isHeldByPerson = true;
        return await accepted();
      },
      { concurrency: 1 },
    );
    expect(await drainOf(parts, operator).run()).toBeUndefined();
    expect(parts.finished).toEqual(['bet-1']);
  });

  it('ends with the call under way when its process is to stop', async () => {
    const { take } = endless();
    const operator: Operator = {};
    const parts = partsOf(
      take,
      async () => {
        operator.isStopping = true;
        return await accepted();
      },
      { concurrency: 1 },
    );
    expect(await drainOf(parts, operator).run()).toBe(0);
    expect(parts.finished).toEqual(['bet-1']);
  });
});
