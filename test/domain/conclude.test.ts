import { describe, expect, it } from 'vitest';
import {
  concludePlace,
  concludeResult,
  concludeRollback,
  concludeUpdate,
} from '../../src/domain/conclude.ts';
import type { BetAnswer } from '../../src/domain/wallet-answer.ts';

const AT = '2021-03-05T11:08:00.000Z';
const TOLD = '2021-03-05T11:07:00.000Z';
const trace = { sent: true, latencyMs: 1 };
const ACCEPTED: BetAnswer = { kind: 'accepted', transactionTime: AT, trace };
const LOST: BetAnswer = { kind: 'unknown', fault: 'timeout', trace };
const UNSENT: BetAnswer = { kind: 'notSent', reason: 'breaker', trace };
const declined = (code: number): BetAnswer => ({ kind: 'declined', code, message: 'no', trace });

describe('what a wallet said of a place', () => {
  it('is final, and the service is told it where it is certain (I2)', () => {
    expect(concludePlace(ACCEPTED)).toEqual({
      outcome: 'accepted',
      answer: { kind: 'accepted', transactionTime: AT },
      change: { place: { kind: 'accepted', transactionTime: AT } },
    });
    expect(concludePlace(declined(7))).toEqual({
      outcome: 'declined',
      answer: { kind: 'refused', code: 7, message: 'no' },
      change: { place: { kind: 'declined', code: 7, message: 'no' } },
    });
  });

  it('leaves the service without an answer of the wallet where nothing is certain (I2)', () => {
    expect(concludePlace(UNSENT)).toEqual({
      outcome: 'not_sent',
      answer: undefined,
      change: { place: { kind: 'notSent' } },
    });
    expect(concludePlace(LOST)).toEqual({
      outcome: 'unknown',
      answer: undefined,
      change: { place: { kind: 'unknown' } },
    });
  });
});

describe('what a wallet said of a result', () => {
  const settle = { kind: 'settle', amount: '25', resultType: 'won' } as const;
  const fresh = { settlement: { kind: 'none' }, late: undefined } as const;
  const conclude = (
    sent: BetAnswer,
    {
      attempted = settle as typeof settle | { readonly kind: 'unsettle' },
      tokenIsChecked = false,
      answeredTime = undefined as string | undefined,
    } = {},
  ) => concludeResult(fresh, attempted, sent, { tokenIsChecked, answeredTime });
  const unknown = {
    outcome: 'unknown',
    answer: undefined,
    change: { settlement: { kind: 'unknown', attempted: settle }, late: settle },
  };
  const notBrought = { outcome: 'not_sent', answer: undefined, change: {} };
  const refused = (code: number) => ({
    outcome: 'declined',
    answer: { kind: 'refused', code, message: 'no' },
    change: {},
  });

  it('stands as soon as it is confirmed, at the time that the service was told (I3)', () => {
    expect(conclude(ACCEPTED)).toEqual({
      outcome: 'accepted',
      answer: { kind: 'accepted', transactionTime: AT },
      change: {
        settlement: { kind: 'settled', amount: '25', resultType: 'won', transactionTime: AT },
        stands: true,
      },
    });
    const { answer, change } = conclude(ACCEPTED, {
      attempted: { kind: 'unsettle' },
      answeredTime: TOLD,
    });
    expect(answer).toEqual({ kind: 'accepted', transactionTime: TOLD });
    expect(change).toEqual({
      settlement: { kind: 'unsettled', transactionTime: TOLD },
      stands: true,
    });
  });

  it('is unknown after silence and after a system error, and may land late (I2)', () => {
    expect(conclude(LOST)).toEqual(unknown);
    expect(conclude(declined(100))).toEqual(unknown);
    expect(conclude(declined(100), { tokenIsChecked: true })).toEqual(unknown);
  });

  it('is several where another one was unknown already', () => {
    const other = { ...settle, amount: '30' };
    const before = {
      settlement: { kind: 'unknown', attempted: other },
      late: { operation: other, atMs: 1, confirmationsLeft: 2, isConfirming: false },
    } as const;
    const { change } = concludeResult(before, settle, LOST, {
      tokenIsChecked: false,
      answeredTime: undefined,
    });
    expect(change).toEqual({
      settlement: { kind: 'unknown', attempted: { kind: 'several' } },
      late: { kind: 'several' },
    });
  });

  it('was not delivered if it was not sent, or refused for reasons that are not the player’s doing', () => {
    expect(conclude(UNSENT)).toEqual(notBrought);
    for (const code of [1, 3, 4])
      expect([code, conclude(declined(code))]).toEqual([code, notBrought]);
  });

  it('is refused by any other code, a cashout also for its token', () => {
    for (const code of [5, 7, 8, 20, 21]) expect(conclude(declined(code))).toEqual(refused(code));
    const cashout = { tokenIsChecked: true };
    for (const code of [3, 4]) expect(conclude(declined(code), cashout)).toEqual(refused(code));
    expect(conclude(declined(1), cashout)).toEqual(notBrought);
  });

  it.each([
    ['this one', settle],
    ['perhaps this one', { kind: 'several' }],
  ] as const)(
    'is not refused for its token if %s may have been executed before (I2)',
    (_, attempted) => {
      const bet = { settlement: { kind: 'unknown', attempted }, late: undefined } as const;
      const options = { tokenIsChecked: true, answeredTime: undefined };
      expect(concludeResult(bet, settle, declined(3), options)).toEqual(notBrought);
      const other = { ...settle, amount: '30' };
      expect(concludeResult(bet, other, declined(3), options)).toEqual(
        attempted.kind === 'several' ? notBrought : refused(3),
      );
    },
  );

  it('is one operation: of several, nobody can say which was confirmed', () => {
    const options = { tokenIsChecked: false, answeredTime: undefined };
    expect(() => concludeResult(fresh, { kind: 'several' }, ACCEPTED, options)).toThrow(
      'an attempt is one operation',
    );
  });
});

describe('what a wallet said of a rollback', () => {
  const accepted = { kind: 'accepted', transactionTime: TOLD } as const;
  const placed = { place: accepted, rollback: { kind: 'none' } } as const;
  const told = { promisedTime: TOLD, isAnswered: true };
  const asked = { promisedTime: TOLD, isAnswered: false };

  it('confirms it by 200, at the time that the service was told (I3)', () => {
    expect(concludeRollback(placed, ACCEPTED, asked)).toEqual({
      outcome: 'accepted',
      answer: { kind: 'accepted', transactionTime: AT },
      change: { rollback: { kind: 'confirmed', transactionTime: AT }, stands: true },
    });
    expect(concludeRollback(placed, ACCEPTED, told).change).toEqual({
      rollback: { kind: 'confirmed', transactionTime: TOLD },
      stands: true,
    });
  });

  it('confirms it by code 8, which is passed on unless the service was answered 200', () => {
    const refusal = { code: 8, message: 'no' };
    expect(concludeRollback(placed, declined(8), asked)).toEqual({
      outcome: 'accepted',
      answer: { kind: 'refused', ...refusal },
      change: { rollback: { kind: 'confirmed', transactionTime: TOLD, refusal }, stands: true },
    });
    expect(concludeRollback(placed, declined(8), told).change.rollback).toEqual({
      kind: 'confirmed',
      transactionTime: TOLD,
    });
  });

  it('settles nothing by anything else (I4)', () => {
    for (const sent of [LOST, declined(5), declined(100)]) {
      expect(concludeRollback(placed, sent, asked)).toEqual({
        outcome: 'unknown',
        answer: undefined,
        change: {},
      });
    }
    expect(concludeRollback(placed, UNSENT, asked).outcome).toBe('not_sent');
  });

  it('is to be sent once more where the place may still land, and only the first time', () => {
    const open = { ...placed, place: { kind: 'unknown' } } as const;
    const again = { ...open, rollback: { kind: 'confirmed', transactionTime: TOLD } } as const;
    for (const sent of [ACCEPTED, declined(8)]) {
      expect(concludeRollback(open, sent, asked).change.late).toEqual({ kind: 'place' });
      expect(concludeRollback(placed, sent, asked).change).not.toHaveProperty('late');
      expect(concludeRollback(again, sent, asked).change).not.toHaveProperty('late');
    }
  });
});

describe('what a wallet said of an update', () => {
  const before = { key: '1.1', transactionTime: TOLD };
  const options = { key: '1.2', promisedTime: TOLD, isAnswered: false, before };

  it('is in force by 200, at the time that the service was told (I3)', () => {
    expect(concludeUpdate(ACCEPTED, options)).toEqual({
      outcome: 'accepted',
      answer: { kind: 'accepted', transactionTime: AT },
      change: { update: { key: '1.2', transactionTime: AT } },
    });
    expect(concludeUpdate(ACCEPTED, { ...options, isAnswered: true })).toEqual({
      outcome: 'accepted',
      answer: { kind: 'accepted', transactionTime: TOLD },
      change: {},
    });
  });

  it('leaves the one before in force where it is refused, which is 200 to the service', () => {
    expect(concludeUpdate(declined(5), options)).toEqual({
      outcome: 'declined',
      answer: { kind: 'accepted', transactionTime: TOLD },
      change: { update: before },
    });
    const first = concludeUpdate(declined(5), { ...options, before: undefined });
    expect(first.change.update?.transactionTime).toBe(TOLD);
    // Equals no update's key: the same update again is sent again, not answered as done.
    expect(first.change.update?.key).not.toMatch(/^$|[\d;]/);
  });

  it('is still to be brought after anything else (I4)', () => {
    for (const sent of [LOST, declined(1), declined(100)]) {
      expect(concludeUpdate(sent, options)).toEqual({
        outcome: 'unknown',
        answer: undefined,
        change: {},
      });
    }
    expect(concludeUpdate(UNSENT, options).outcome).toBe('not_sent');
  });
});
