import { describe, expect, it } from 'vitest';
import type { Bet, LateEffect } from '../../src/domain/bet.ts';
import type { AfterAttempt, DeliveryPurpose } from '../../src/domain/delivery.ts';
import {
  afterLapse,
  afterOutcome,
  byAnswerGiven,
  type EndedAttempt,
  promiseAfter,
} from '../../src/domain/finish.ts';
import { FRESH } from './support/fresh-bet.ts';

const AT = '2021-03-05T11:08:00.000Z';
const LATER = '2021-03-05T11:09:00.000Z';
const WON = { kind: 'settled', amount: '5', resultType: 'won', transactionTime: LATER } as const;
const ACCEPTED = { kind: 'accepted', transactionTime: LATER } as const;
const REFUSAL = { code: 8, message: 'Done before' };

const betOf = (changes: Partial<Bet> = {}): Bet => ({
  ...FRESH,
  place: { kind: 'accepted', transactionTime: AT },
  busy: { operation: 'settle', attemptId: 'a', lapsed: false },
  ...changes,
});

const ended = (bet: Bet, more: Partial<EndedAttempt> = {}) =>
  afterOutcome(bet, {
    ...{ operationId: '7', change: {}, delivery: undefined, isLate: false, confirmAfterMs: 30_000 },
    ...more,
  });

const delivery = (purpose: DeliveryPurpose, state: AfterAttempt) => ({
  ...{ purpose, after: state, promisedTime: AT },
});

describe('a bet after its attempt', () => {
  it('has what the wallet’s answer changes, all else as it was, and is free', () => {
    const bet = betOf({ update: { key: 'k', transactionTime: AT } });
    const { bet: next } = ended(bet, { change: { settlement: WON, stands: true } });
    expect(next).toEqual({ ...bet, settlement: WON, standingOperationId: '7', busy: undefined });
  });

  it('keeps the 100 that its place was answered with, whatever its wallet said too late (I3)', () => {
    const placing = betOf({ place: { kind: 'inFlight' } });
    const missed = (place: Bet['place'], isLate: boolean) =>
      ended(placing, { change: { place }, isLate }).bet.placeAnsweredUnknown;
    expect(missed(ACCEPTED, true)).toBe(true);
    expect(missed({ kind: 'declined', ...REFUSAL }, true)).toBe(true);
    expect(missed(ACCEPTED, false)).toBe(false);
    expect(missed({ kind: 'unknown' }, true)).toBe(false);
    expect(ended(betOf({ placeAnsweredUnknown: true })).bet.placeAnsweredUnknown).toBe(true);
  });

  it('keeps the time that its rollback was answered with, and no refusal that came later (I4, I11)', () => {
    const bet = betOf({ rollback: { kind: 'promised', transactionTime: AT } });
    const rollback = { kind: 'confirmed', transactionTime: LATER, refusal: REFUSAL } as const;
    const rolledBack = (isLate: boolean) =>
      ended(bet, { change: { rollback }, isLate }).bet.rollback;
    expect(rolledBack(false)).toEqual(rollback);
    expect(rolledBack(true)).toEqual({ kind: 'confirmed', transactionTime: AT });
  });

  it('has its update only while no other was promised since (I6)', () => {
    const bet = betOf({ update: { key: 'k', transactionTime: AT } });
    const update = { key: 'k', transactionTime: LATER };
    const attempted = { change: { update }, delivery: delivery('promise', { kind: 'delivered' }) };
    const newer = (operationId: string) =>
      betOf({
        update: bet.update,
        deliveries: [
          { id: '1', operationId, operation: 'update', attempts: 0, transactionTime: AT },
        ],
      });
    expect(ended(bet, attempted).bet.update).toEqual(update);
    expect(ended(newer('6'), attempted).bet.update).toEqual(update);
    expect(ended(newer('10'), attempted).bet.update).toEqual(bet.update);
    const other = betOf({ update: { key: 'n', transactionTime: LATER } });
    expect(ended(other, attempted).bet.update).toEqual(other.update);
    expect(ended(bet, { ...attempted, isLate: true }).bet.update).toEqual(bet.update);
  });
});

describe('what may take effect late', () => {
  const late: LateEffect = {
    ...{ operation: { kind: 'unsettle' }, atMs: 5, confirmationsLeft: 2, isConfirming: true },
  };
  const standing = (changes: Partial<Bet> = {}) =>
    betOf({ standingOperationId: '7', late, ...changes });
  const confirmed = (state: AfterAttempt, bet = standing()) =>
    ended(bet, { delivery: delivery('confirm', state) });

  it('is confirmed twice from now on (I5)', () => {
    const settle = { kind: 'settle', amount: '5', resultType: 'won' } as const;
    expect(ended(betOf(), { change: { late: settle } })).toMatchObject({
      ...{ isLateNow: true, confirmInMs: 30_000 },
      bet: { late: { operation: settle, confirmationsLeft: 2 } },
    });
  });

  it('is over after the second confirmation', () => {
    const first = confirmed({ kind: 'delivered' });
    expect(first).toMatchObject({ isLateNow: false, confirmInMs: 0 });
    expect(first.bet.late).toEqual({ ...late, confirmationsLeft: 1 });
    const second = confirmed(
      { kind: 'refused' },
      standing({ late: { ...late, confirmationsLeft: 1 } }),
    );
    expect(second.bet.late).toBeUndefined();
  });

  it('may be a confirmation without an answer as well, unless the bet is rolled back (I5)', () => {
    const lost = confirmed({ kind: 'pending', retryInMs: 1 });
    expect(lost).toMatchObject({ isLateNow: true, confirmInMs: undefined });
    expect(lost.bet.late).toEqual({ ...late, operation: { kind: 'several' } });
    const rollback = { kind: 'confirmed', transactionTime: AT } as const;
    const over = confirmed({ kind: 'pending', retryInMs: 1 }, standing({ rollback }));
    expect(over).toMatchObject({ isLateNow: false, bet: { late } });
  });

  it('is not what confirmed an operation that stands no more', () => {
    const change = { late: { kind: 'unsettle' } } as const;
    const state = delivery('confirm', { kind: 'delivered' });
    const { bet } = ended(standing({ standingOperationId: '8' }), { change, delivery: state });
    expect(bet.late).toEqual({ ...late, confirmationsLeft: 1 });
  });
});

describe('a bet whose process was lost', () => {
  const lapsed = (operation: NonNullable<Bet['busy']>['operation'], changes: Partial<Bet> = {}) =>
    afterLapse(betOf({ busy: { operation, attemptId: 'a', lapsed: true }, ...changes }));

  it('has a place of unknown outcome', () => {
    const { bet } = lapsed('place', { place: { kind: 'inFlight' } });
    expect(bet).toMatchObject({ place: { kind: 'unknown' }, late: undefined, busy: undefined });
  });

  it.each(['settle', 'unsettle'] as const)('has a result that nobody knows: %s', (operation) => {
    const freed = lapsed(operation);
    expect(freed).toMatchObject({ isLateNow: true, confirmInMs: 0 });
    expect(freed.bet).toMatchObject({
      settlement: { kind: 'unknown', attempted: { kind: 'several' } },
      late: { operation: { kind: 'several' }, confirmationsLeft: 2 },
    });
  });

  it('has the state that it had where an update or a rollback was on its way: these are promised', () => {
    for (const operation of ['update', 'rollback'] as const) {
      const bet = betOf();
      expect(lapsed(operation).bet).toEqual({ ...bet, busy: undefined });
    }
  });
});

describe('a promise made after an attempt', () => {
  it('is void where a rollback did not wait for it, or its caller was answered otherwise (I11)', () => {
    const rolledBack = betOf({ rollback: { kind: 'promised', transactionTime: AT } });
    expect(promiseAfter(betOf(), 'pending', false)).toBe('pending');
    expect(promiseAfter(rolledBack, 'pending', false)).toBe('superseded');
    expect(promiseAfter(betOf(), 'pending', true)).toBeUndefined();
    expect(promiseAfter(betOf(), 'dead', true)).toBe('dead');
  });
});

describe('the answer that a caller really got', () => {
  it('counts for its place (I3)', () => {
    expect(byAnswerGiven(betOf(), { operation: 'place' })?.placeAnsweredUnknown).toBe(true);
    expect(byAnswerGiven(betOf({ place: { kind: 'unknown' } }), { operation: 'place' })).toBe(
      undefined,
    );
  });

  it('is the time of its rollback or update', () => {
    const given = { operation: 'rollback', promisedTime: AT } as const;
    const rollback = { kind: 'confirmed', transactionTime: LATER, refusal: REFUSAL } as const;
    expect(byAnswerGiven(betOf({ rollback }), given)?.rollback).toEqual({
      ...{ kind: 'confirmed', transactionTime: AT },
    });
    expect(byAnswerGiven(betOf(), given)).toBeUndefined();
    const update = { key: 'k', transactionTime: LATER };
    const conclusion = { outcome: 'accepted', answer: undefined, change: { update } } as const;
    const updated = { operation: 'update', promisedTime: AT, conclusion } as const;
    expect(byAnswerGiven(betOf({ update }), updated)?.update).toEqual({
      key: 'k',
      transactionTime: AT,
    });
    const other = betOf({ update: { key: 'n', transactionTime: LATER } });
    expect(byAnswerGiven(other, updated)).toBeUndefined();
  });
});
