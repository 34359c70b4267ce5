import { describe, expect, it } from 'vitest';
import type { Bet, Settlement } from '../../../src/domain/bet.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import type { TakenDelivery } from '../../../src/store/deliveries/claim-statements.ts';
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

  it.each(['settle', 'unsettle', 'rollback', 'update'] as const)(
    'is nothing if a %s is only confirmed: the bet has its state already',
    async (operation) => {
      const { conclusion } = await tried(takenOf(operation, { purpose: 'confirm' }));
      expect(conclusion).toEqual({ outcome: 'not_sent', answer: undefined, change: {} });
    },
  );
});

describe('an attempt without success', () => {
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
      bet: takenOf('rollback').bet,
      attempt: {
        ...{ startedAtMs: 1_000_000, result: 'accepted', trace: result.sent.trace },
        ...{ error: undefined, answer: undefined },
      },
      change: result.concluded.conclusion.change,
      confirmAfterMs: 77_000,
      delivery: {
        ...{ kind: 'after', after: { kind: 'delivered' }, purpose: 'promise', isCounted: true },
        promisedTime: 'as promised',
      },
      caller: undefined,
    });
    expect(changed.mock.calls).toEqual([['b26153f9']]);
    expect(counted).toBe(1);
    expect(logger.info).toHaveBeenCalledOnce();
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
