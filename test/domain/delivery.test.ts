import { describe, expect, it } from 'vitest';
import { type Attempted, afterAttempt } from '../../src/domain/delivery.ts';
import type { BetAnswer } from '../../src/domain/wallet-answer.ts';

const trace = { sent: true, latencyMs: 1 };
const ACCEPTED: BetAnswer = { kind: 'accepted', transactionTime: '2021-03-05T11:08:00Z', trace };
const LOST: BetAnswer = { kind: 'unknown', fault: 'timeout', trace };
const declined = (code: number): BetAnswer => ({ kind: 'declined', code, message: 'no', trace });
const notSent = (reason: 'breaker' | 'connection'): BetAnswer => ({
  kind: 'notSent',
  reason,
  trace: { sent: false, latencyMs: 0 },
});

const attempted = (changes: Partial<Attempted> = {}): Attempted => ({
  operation: 'rollback',
  purpose: 'promise',
  isOverdue: false,
  retryInMs: 1_000,
  ...changes,
});
const PENDING = { kind: 'pending', retryInMs: 1_000 };

describe('a promised delivery after an attempt', () => {
  it.each(['settle', 'unsettle', 'rollback', 'update'] as const)(
    'of a %s is delivered by 200, tried again after silence, and dead once its horizon is over (I4)',
    (operation) => {
      expect(afterAttempt(attempted({ operation }), ACCEPTED)).toEqual({ kind: 'delivered' });
      expect(afterAttempt(attempted({ operation }), LOST)).toEqual(PENDING);
      const last = attempted({ operation, isOverdue: true });
      expect(afterAttempt(last, LOST)).toEqual({ kind: 'dead' });
    },
  );

  it('spends no attempt where nothing was tried, however old it is (I4)', () => {
    const unsent = { kind: 'unsent', retryInMs: 0 };
    expect(afterAttempt(attempted({ isOverdue: true }), notSent('breaker'))).toEqual(unsent);
    expect(afterAttempt(attempted(), notSent('connection'))).toEqual(PENDING);
  });

  it('of a rollback ends with 200 and code 8 alone', () => {
    expect(afterAttempt(attempted(), declined(8))).toEqual({ kind: 'delivered' });
    for (const code of [1, 3, 4, 5, 100]) {
      expect([code, afterAttempt(attempted(), declined(code))]).toEqual([code, PENDING]);
    }
  });

  it('of a result that the wallet refuses for good is dead at once; 1, 3, 4 and 100 are not that', () => {
    for (const operation of ['settle', 'unsettle'] as const) {
      for (const code of [5, 8, 20, 21]) {
        expect(afterAttempt(attempted({ operation }), declined(code))).toEqual({ kind: 'dead' });
      }
      for (const code of [1, 3, 4, 100]) {
        expect(afterAttempt(attempted({ operation }), declined(code))).toEqual(PENDING);
      }
    }
  });

  it('of an update ends with any refusal but 1 and 100', () => {
    const update = attempted({ operation: 'update' });
    expect(afterAttempt(update, declined(3))).toEqual({ kind: 'refused' });
    expect(afterAttempt(update, declined(1))).toEqual(PENDING);
    expect(afterAttempt(update, declined(100))).toEqual(PENDING);
  });

  it('of a result is dead at once where the wallet would pay its repeat again', () => {
    const held = attempted({ operation: 'settle', holdsRepeats: true });
    expect(afterAttempt(held, LOST)).toEqual({ kind: 'dead' });
    expect(afterAttempt(held, declined(100))).toEqual({ kind: 'dead' });
    // Nothing was sent, so nothing can be paid twice.
    expect(afterAttempt(held, notSent('connection'))).toEqual(PENDING);
    // Refused before anything was executed.
    for (const code of [1, 3, 4]) expect(afterAttempt(held, declined(code))).toEqual(PENDING);
    const rollback = attempted({ holdsRepeats: true });
    expect(afterAttempt(rollback, LOST)).toEqual(PENDING);
  });
});

describe('a confirmation after an attempt', () => {
  const confirm = (changes: Partial<Attempted> = {}) =>
    attempted({ purpose: 'confirm', ...changes });

  it.each(['settle', 'unsettle', 'rollback'] as const)(
    'of a %s ends quietly by a definite refusal and by its horizon, never dead (I4)',
    (operation) => {
      const refused = { kind: 'refused' };
      expect(afterAttempt(confirm({ operation }), declined(5))).toEqual(refused);
      const overdue = confirm({ operation, isOverdue: true });
      expect(afterAttempt(overdue, LOST)).toEqual({ ...refused, isLost: true });
      expect(afterAttempt(overdue, declined(1))).toEqual(refused);
    },
  );

  it.each([1, 3, 4, 100])('that was not delivered is retried: code %s', (code) => {
    expect(afterAttempt(confirm(), declined(code))).toEqual(PENDING);
    expect(afterAttempt(confirm({ operation: 'settle' }), declined(code))).toEqual(PENDING);
  });
});
