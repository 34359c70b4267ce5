import { describe, expect, it } from 'vitest';
import type { AttemptFacts } from '../../src/domain/course.ts';
import {
  type BetOfDeadLetter,
  type DeadLetter,
  isPassed,
  type LaterOperation,
  resultOfReopened,
  resultOfResolved,
} from '../../src/domain/dead-letter.ts';

const AT = '2021-03-05T11:08:00.000Z';
const WON_20 = { amount: '20', resultType: 'won' } as const;
const SETTLE_20 = { kind: 'settle', ...WON_20 } as const;
const SETTLED_50 = { kind: 'settled', ...WON_20, amount: '50', transactionTime: 'before' } as const;
const SEVERAL = { kind: 'unknown', attempted: { kind: 'several' } } as const;

/** A settle of 20 that was promised. */
const letter = (changes: Partial<DeadLetter> = {}): DeadLetter => ({
  ...{ operation: 'settle', operationId: '7', purpose: 'promise', transactionTime: AT },
  ...{ settle: WON_20, answerStatus: 200, later: [] },
  ...changes,
});

/** A settle that a wallet was called for. */
const later = (changes: Partial<LaterOperation> = {}): LaterOperation => ({
  ...{ operation: 'settle', isCopy: false, answerStatus: 503, bearsItsTime: false, attempts: [] },
  ...changes,
});

const attempt = (changes: Partial<AttemptFacts> = {}): AttemptFacts => ({
  ...{ result: 'timeout', code: undefined, sent: true, confirmed: false, answerStatus: 503 },
  ...changes,
});
const REFUSED = attempt({ result: 'declined', code: 20, answerStatus: 400 });
const NOT_SENT = attempt({ result: 'connection', sent: false });

/** The answer to a copy of the dead letter's request, and one for another result that stood before it. */
const COPY = later({ isCopy: true, answerStatus: 200, bearsItsTime: true });
const OF_ANOTHER = later({ isCopy: true, answerStatus: 200 });

const passed = (one: LaterOperation, changes: Partial<DeadLetter> = {}) =>
  isPassed(letter({ ...changes, later: [one] }));

describe('a dead letter is never sent again once a later operation has overtaken it (I6)', () => {
  it('a result, by a later result or rollback, but not by an update', () => {
    for (const operation of ['settle', 'unsettle'] as const) {
      expect(passed(later(), { operation })).toBe(true);
      expect(passed(later({ operation: 'unsettle' }), { operation })).toBe(true);
      expect(passed(later({ operation: 'rollback' }), { operation })).toBe(true);
      expect(passed(later({ operation: 'update' }), { operation })).toBe(false);
      expect(isPassed(letter({ operation }))).toBe(false);
    }
  });

  it('an update, by another or by a rollback, but by no copy', () => {
    const update = { operation: 'update' } as const;
    expect(passed(later(update), update)).toBe(true);
    expect(passed(later({ operation: 'rollback' }), update)).toBe(true);
    expect(passed(later(), update)).toBe(false);
    expect(passed(later({ ...update, isCopy: true }), update)).toBe(false);
  });

  it('a rollback, by nothing', () => {
    for (const operation of ['settle', 'unsettle', 'rollback', 'update'] as const) {
      expect(passed(later({ operation }), { operation: 'rollback' })).toBe(false);
    }
  });

  it('not by a result that no wallet accepted, if it was promised (I4)', () => {
    for (const untaken of [REFUSED, NOT_SENT]) {
      const attempts = [untaken];
      expect(passed(later({ attempts }))).toBe(false);
      expect(passed(later({ attempts }), { answerStatus: 503 })).toBe(true);
      expect(passed(later({ attempts }), { answerStatus: undefined })).toBe(true);
      // Answered 503 at first, a copy of its request was answered with its promise.
      const dead = letter({ answerStatus: 503, later: [later({ attempts }), COPY] });
      expect(isPassed(dead)).toBe(false);
      expect(isPassed({ ...dead, later: [later({ attempts }), OF_ANOTHER] })).toBe(true);
      const unlike = { ...COPY, operation: 'unsettle' } as const;
      expect(isPassed({ ...dead, later: [later({ attempts }), unlike] })).toBe(true);
    }
  });

  it.each([
    ['no answer', attempt()],
    ['code 100, after which the money may have moved', attempt({ result: 'declined', code: 100 })],
    ['a refusal after its caller was promised it', { ...REFUSED, answerStatus: 200 }],
    ['a refusal that no caller waited for', { ...REFUSED, answerStatus: undefined }],
  ])('by a result that a wallet may have taken: %s', (_, one) => {
    expect(passed(later({ attempts: [one] }))).toBe(true);
  });

  it('by the answer for the result before it, but not by an answer to its own copy', () => {
    expect(passed(OF_ANOTHER)).toBe(true);
    expect(passed(COPY)).toBe(false);
    expect(passed({ ...OF_ANOTHER, answerStatus: 400 })).toBe(false);
    expect(passed({ ...OF_ANOTHER, operation: 'update' })).toBe(false);
  });
});

const bet = (changes: Partial<BetOfDeadLetter> = {}): BetOfDeadLetter => ({
  ...{ rollback: 'none', busyOperation: undefined, standingOperationId: '3' },
  settlement: SETTLED_50,
  ...changes,
});

describe('a dead letter that a person has resolved', () => {
  const resolved = (changes: Partial<DeadLetter>, known: Partial<BetOfDeadLetter> = {}) =>
    resultOfResolved(bet(known), letter(changes));
  const SETTLED_20 = { kind: 'settled', ...WON_20, transactionTime: AT };

  it('is the bet’s result, if it is one (I6)', () => {
    expect(resolved({})).toEqual(SETTLED_20);
    const unsettled = { kind: 'unsettled', transactionTime: AT };
    expect(resolved({ operation: 'unsettle', settle: undefined })).toEqual(unsettled);
    expect(resolved({ operation: 'update' })).toBeUndefined();
    expect(resolved({ operation: 'rollback' })).toBeUndefined();
    // Nobody knows what it asked for.
    expect(resolved({ settle: undefined })).toBeUndefined();
  });

  it('is not, if the bet is rolled back, or its wallet may hold a later result', () => {
    expect(resolved({}, { rollback: 'promised' })).toBeUndefined();
    expect(resolved({ later: [later()] })).toBeUndefined();
    expect(resolved({ later: [later({ operation: 'rollback' })] })).toBeUndefined();
    expect(resolved({ later: [OF_ANOTHER] })).toBeUndefined();
  });

  it('is, if no wallet took what came later, whatever the service was answered', () => {
    for (const answerStatus of [200, 503, undefined]) {
      const untaken = later({ attempts: [REFUSED] });
      expect(resolved({ answerStatus, later: [untaken, COPY] })).toEqual(SETTLED_20);
    }
  });

  it('is not, while an operation is in flight that may change the result', () => {
    for (const busyOperation of ['settle', 'unsettle', 'rollback', 'place'] as const) {
      expect(resolved({}, { busyOperation })).toBeUndefined();
    }
    for (const busyOperation of ['update', 'confirm'] as const) {
      expect(resolved({}, { busyOperation })).toEqual(SETTLED_20);
    }
  });

  it('keeps the result that it confirms, if that still stands', () => {
    const confirmation = { purpose: 'confirm', settle: undefined } as const;
    expect(resolved(confirmation)).toBeUndefined();
    const stands = { standingOperationId: '7' };
    expect(resolved(confirmation, stands)).toEqual({ ...SETTLED_50, transactionTime: AT });
    expect(resolved(confirmation, { ...stands, settlement: SEVERAL })).toBeUndefined();
  });
});

describe('the result of a bet whose dead letters are sent again', () => {
  const reopened = (known: Partial<BetOfDeadLetter>, ...letters: readonly DeadLetter[]) =>
    resultOfReopened(bet(known), letters);

  it('is named, if only a killed process knew which one is in doubt (I5)', () => {
    const unsettle = letter({ operation: 'unsettle', settle: undefined });
    const inDoubt = { settlement: SEVERAL };
    expect(reopened(inDoubt, letter(), unsettle)).toEqual({
      kind: 'unknown',
      attempted: SETTLE_20,
    });
    expect(reopened(inDoubt, unsettle, letter())).toEqual({
      kind: 'unknown',
      attempted: { kind: 'unsettle' },
    });
    const update = letter({ operation: 'update' });
    expect(reopened(inDoubt, update, letter())).toEqual({ kind: 'unknown', attempted: SETTLE_20 });
  });

  it('stays as it is otherwise', () => {
    expect(reopened({}, letter())).toEqual(SETTLED_50);
    const known = { kind: 'unknown', attempted: { kind: 'unsettle' } } as const;
    expect(reopened({ settlement: known }, letter())).toEqual(known);
    const inDoubt = { settlement: SEVERAL };
    expect(reopened(inDoubt, letter({ operation: 'update' }))).toEqual(SEVERAL);
    expect(reopened(inDoubt, letter({ operation: 'rollback' }), letter())).toEqual(SEVERAL);
    expect(reopened(inDoubt, letter({ settle: undefined }))).toEqual(SEVERAL);
  });
});
