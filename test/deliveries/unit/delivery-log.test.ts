import { describe, expect, it, vi } from 'vitest';
import type { AfterAttempt } from '../../../src/domain/delivery.ts';
import type { BetAnswer } from '../../../src/domain/wallet-answer.ts';
import { countAttempt, logAttempt } from '../../../src/operations/delivery-log.ts';
import type { Engine } from '../../../src/operations/engine.ts';
import type { TakenDelivery } from '../../../src/store/deliveries/claim-statements.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

const clock = new TestClock();
const taken = (changes: Partial<TakenDelivery> = {}) =>
  partly<TakenDelivery>({
    ...{ id: '7', operation: 'settle', purpose: 'promise', transactionId: 'bet', attempts: 3 },
    createdAt: new Date(clock.wallMs - 2_500),
    owner: { operatorId: 'alpha' },
    ...changes,
  });

const trace = { sent: true, latencyMs: 12.6 };
const ACCEPTED: BetAnswer = { kind: 'accepted', transactionTime: 'then', trace };
const DECLINED: BetAnswer = {
  ...{ kind: 'declined', code: 7, message: 'Ann has no money' },
  trace: { ...trace, status: 422, code: 7, error: 'Ann has no money' },
};
const SILENT: BetAnswer = {
  ...{ kind: 'unknown', fault: 'timeout' },
  trace: { ...trace, error: 'no answer' },
};
const DELIVERED: AfterAttempt = { kind: 'delivered' };
const PENDING: AfterAttempt = { kind: 'pending', retryInMs: 250 };

describe('an attempt of a delivery is logged', () => {
  function logged(sent: BetAnswer, after: AfterAttempt, of = taken()) {
    const logger = { info: vi.fn(), error: vi.fn() };
    logAttempt(partly<Engine>({ clock, logger }), of, sent, after);
    return logger;
  }

  it('in one wide line', () => {
    const { info, error } = logged(SILENT, PENDING);
    expect(error).not.toHaveBeenCalled();
    expect(info.mock.calls).toEqual([
      [
        {
          ...{ operator: 'alpha', operation: 'settle', transactionId: 'bet', delivery: '7' },
          ...{ purpose: 'promise', attempt: 3, state: 'pending', result: 'unknown' },
          ...{ status: undefined, code: undefined, error: 'no answer', latencyMs: 13 },
          ...{ ageMs: 2_500, retryInMs: 250 },
        },
        'delivery.attempted',
      ],
    ]);
  });

  it('without a wallet’s own words, which may name somebody', () => {
    const { info } = logged(DECLINED, { kind: 'refused' });
    expect(info.mock.calls[0]?.[0]).toMatchObject({
      ...{ error: '422 code 7', status: 422, code: 7, retryInMs: undefined, state: 'refused' },
    });
    const bare = { ...DECLINED, trace };
    expect(logged(bare, PENDING).info.mock.calls[0]?.[0]).toMatchObject({ error: '400 code 7' });
  });

  it('as an alarm where a person has to decide (I4)', () => {
    const { info, error } = logged(DECLINED, { kind: 'dead' });
    expect(info).not.toHaveBeenCalled();
    expect(error.mock.calls).toEqual([
      [expect.objectContaining({ delivery: '7', why: 'a person has to decide' }), 'delivery.dead'],
    ]);
  });
});

describe('an attempt of a delivery is counted', () => {
  function counted(sent: BetAnswer, after: AfterAttempt, of = taken()) {
    const [inc, observe] = [vi.fn(), vi.fn()];
    const metrics = { deliveryAttempts: { inc }, deliveryLag: { observe } };
    countAttempt(partly<Engine>({ clock, metrics }), of, sent, after);
    expect(inc).toHaveBeenCalledOnce();
    return { labels: inc.mock.calls[0]?.[0], lags: observe.mock.calls.flat() };
  }

  it('with how long it was promised, once: when it is over and for the first time', () => {
    expect(counted(ACCEPTED, DELIVERED).lags).toEqual([2.5]);
    expect(counted(DECLINED, { kind: 'refused' }).lags).toEqual([2.5]);
    expect(counted(SILENT, PENDING).lags).toEqual([]);
    expect(counted(DECLINED, { kind: 'dead' }).lags).toEqual([]);
    expect(counted(ACCEPTED, DELIVERED, taken({ purpose: 'confirm' })).lags).toEqual([]);
  });
});
