import { describe, expect, it, vi } from 'vitest';
import type { Bet, Settlement } from '../../../src/domain/bet.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import type { TakenDelivery } from '../../../src/store/deliveries/taken.ts';
import { ANSWERS, takenOf, tried } from '../support/delivery-scene.ts';

/** What a wallet's answer means for a delivery, with parts that behave as the test says. */

const DATABASE = new GatewayError('DATABASE_UNAVAILABLE', 'gone');

describe('what an attempt means for its bet', () => {
  const TIME = { transactionTime: 'as promised' };
  it.each<[string, TakenDelivery, Settlement | Bet['rollback'] | undefined]>([
    ['settle', takenOf('settle'), { kind: 'settled', amount: '12.10', resultType: 'won', ...TIME }],
    ['unsettle', takenOf('unsettle'), { kind: 'unsettled', ...TIME }],
    ['rollback', takenOf('rollback'), { kind: 'confirmed', ...TIME }],
  ])('keeps the time that the service was told: a %s (I3)', async (operation, taken, state) => {
    const { conclusion } = await tried(taken);
    expect(conclusion.answer).toEqual({ kind: 'accepted', ...TIME });
    expect(conclusion.change).toEqual({
      [operation === 'rollback' ? 'rollback' : 'settlement']: state,
      stands: true,
    });
  });

  it('is the confirmation of a rollback by code 8 as well, and the answer given stays', async () => {
    const { conclusion, after } = await tried(takenOf('rollback'), {
      sent: ANSWERS.alreadyProcessed,
    });
    expect(conclusion.change.rollback).toEqual({ kind: 'confirmed', ...TIME });
    expect(after).toEqual({ kind: 'delivered' });
  });

  it('is an update that is not in force where the wallet refused it', async () => {
    const { conclusion, after } = await tried(takenOf('update'), { sent: ANSWERS.declined });
    expect(conclusion.change).toEqual({ update: { key: 'refused', ...TIME } });
    expect(after).toEqual({ kind: 'refused' });
    const taken = await tried(takenOf('update'));
    expect(taken.conclusion).toEqual({
      ...{ outcome: 'accepted', answer: { kind: 'accepted', ...TIME }, change: {} },
    });
  });

  it('is a result that nobody knows, and that is confirmed later, after silence (I5)', async () => {
    const settled = await tried(takenOf('settle'), { sent: ANSWERS.silent });
    const attempted = { kind: 'settle', amount: '12.10', resultType: 'won' };
    expect(settled.conclusion.change).toEqual({
      settlement: { kind: 'unknown', attempted },
      late: attempted,
    });
    const unsettled = await tried(takenOf('unsettle'), { sent: ANSWERS.silent });
    expect(unsettled.conclusion.change).toMatchObject({
      settlement: { kind: 'unknown', attempted: { kind: 'unsettle' } },
    });
  });

  it('is a result that is sent again if only its token was refused, which is not the player’s doing', async () => {
    const sent = { ...ANSWERS.declined, code: 3 };
    const { conclusion, after } = await tried(takenOf('settle'), { sent });
    expect(conclusion).toEqual({ outcome: 'not_sent', answer: undefined, change: {} });
    expect(after.kind).toBe('pending');
  });

  it.each(['settle', 'unsettle', 'rollback', 'update'] as const)(
    'is nothing if a %s is only confirmed: the bet has its state already',
    async (operation) => {
      const { conclusion } = await tried(takenOf(operation, { purpose: 'confirm' }));
      expect(conclusion).toEqual({ outcome: 'not_sent', answer: undefined, change: {} });
    },
  );
});

describe('an attempt without success', () => {
  it('waits longer each time, by the operator’s own settings', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
    try {
      const sent = ANSWERS.silent;
      const waits = await Promise.all(
        [1, 2, 3, 30].map(async (attempts) => {
          const { after } = await tried(takenOf('rollback', { attempts }), { sent });
          return after;
        }),
      );
      expect(waits).toEqual(
        [100, 200, 400, 5_000].map((retryInMs) => ({ kind: 'pending', retryInMs })),
      );
      const owner = { operatorId: 'gone', playerId: '1', userId: '1999', operatorUser: 'ann' };
      const { after } = await tried(takenOf('rollback', { owner }), { sent });
      expect(after).toEqual({ kind: 'pending', retryInMs: 1_000 });
    } finally {
      random.mockRestore();
    }
  });

  it('was the last one behind the horizon (I4)', async () => {
    const sent = ANSWERS.silent;
    const { after } = await tried(takenOf('rollback', { isOverdue: true }), { sent });
    expect(after).toEqual({ kind: 'dead' });
    // Nobody waits for a confirmation.
    const confirm = takenOf('rollback', { isOverdue: true, purpose: 'confirm' });
    expect((await tried(confirm, { sent })).after).toEqual({ kind: 'refused', isLost: true });
  });
});

describe('the outcome of an attempt', () => {
  it('is recorded under the attempt that claimed it, and answered to nobody (I6)', async () => {
    const { recorded, result, changed, logger } = await tried(takenOf('rollback'));
    const { outcome, counted } = await recorded();
    expect(outcome).toEqual({
      ...{ transactionId: 'b26153f9', attemptId: 'attempt', operationId: '7' },
      attempt: {
        ...{ startedAtMs: 1_000_000, result: 'accepted', trace: result.sent.trace },
        ...{ error: undefined, answer: undefined },
      },
      change: result.concluded.conclusion.change,
      confirmAfterMs: 77_000,
      delivery: {
        ...{ kind: 'after', after: { kind: 'delivered' }, purpose: 'promise', isCounted: true },
      },
      caller: undefined,
    });
    expect(changed.mock.calls).toEqual([['b26153f9']]);
    expect(counted).toBe(1);
    expect(logger.info).toHaveBeenCalledOnce();
  });

  it('is neither counted nor logged where another has the bet by now', async () => {
    const { recorded, logger } = await tried(takenOf('rollback'), {
      finish: async () => ({ kind: 'lost' }),
    });
    expect((await recorded()).counted).toBe(0);
    expect(logger.info).not.toHaveBeenCalled();
  });

  it('is repeated after its lease where it cannot be written: only that is logged (I4)', async () => {
    const { recorded, logger } = await tried(takenOf('rollback'), {
      finish: () => Promise.reject(DATABASE),
    });
    expect((await recorded()).counted).toBe(0);
    expect(logger.info).not.toHaveBeenCalled();
    expect(logger.error.mock.calls).toEqual([
      [expect.objectContaining({ err: DATABASE }), 'bet.outcome_not_recorded'],
    ]);
  });

  it('spends no attempt if the operator took no call, and logs no line', async () => {
    const { recorded, after, logger } = await tried(takenOf('rollback'), {
      sent: ANSWERS.notSent,
    });
    expect(after).toEqual({ kind: 'unsent', retryInMs: 0 });
    expect((await recorded()).counted).toBe(0);
    expect(logger.info).not.toHaveBeenCalled();
  });
});
