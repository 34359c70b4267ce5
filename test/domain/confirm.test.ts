import { describe, expect, it } from 'vitest';
import type { Bet, LateEffect } from '../../src/domain/bet.ts';
import {
  afterLeftToPerson,
  afterOneConfirmation,
  decideConfirm,
  lateAfterConfirming,
  standingTime,
} from '../../src/domain/confirm.ts';
import { FRESH } from './support/fresh-bet.ts';

const AT = '2021-03-05T11:08:00.000Z';
const LATE: LateEffect = {
  operation: { kind: 'settle', amount: '20', resultType: 'won' },
  atMs: 1_000_000,
  confirmationsLeft: 2,
  isConfirming: false,
};
const SETTLED = { kind: 'settled', amount: '50', resultType: 'won', transactionTime: AT } as const;

const bet = (changes: Partial<Bet> = {}): Bet => ({
  ...FRESH,
  place: { kind: 'accepted', transactionTime: AT },
  settlement: SETTLED,
  late: LATE,
  standingOperationId: '7',
  ...changes,
});

const CONFIRM_MS = 60_000;
const decide = (what: Bet, afterMs: number, holdsRepeats = false) =>
  decideConfirm(what, { nowMs: LATE.atMs + afterMs, confirmAfterMs: CONFIRM_MS, holdsRepeats });

describe('the current state of a bet of which something may take effect late', () => {
  it('is sent once more at confirmUnknownAfterMs, and again at ten times that (I5)', () => {
    const send = { kind: 'send', operationId: '7' };
    expect(decide(bet(), CONFIRM_MS - 1)).toEqual({ kind: 'wait', inMs: 1 });
    expect(decide(bet(), CONFIRM_MS)).toEqual(send);
    const second = bet({ late: { ...LATE, confirmationsLeft: 1 } });
    expect(decide(second, CONFIRM_MS)).toEqual({ kind: 'wait', inMs: 9 * CONFIRM_MS });
    expect(decide(second, 10 * CONFIRM_MS)).toEqual(send);
  });

  it('waits behind whatever is on its way or promised (I6)', () => {
    const wait = { kind: 'wait', inMs: CONFIRM_MS };
    const busy = { operation: 'settle', attemptId: 'a', lapsed: false } as const;
    expect(decide(bet({ busy }), CONFIRM_MS)).toEqual(wait);
    const promised = {
      id: '1',
      operationId: '1',
      operation: 'rollback',
      attempts: 0,
      transactionTime: AT,
    } as const;
    expect(decide(bet({ deliveries: [promised] }), CONFIRM_MS)).toEqual(wait);
    expect(decide(bet({ late: { ...LATE, isConfirming: true } }), CONFIRM_MS)).toEqual(wait);
  });

  it('is left alone if the late one would change nothing, or the state is unknown', () => {
    const same = { kind: 'settle', amount: '50.00', resultType: 'won' } as const;
    const harmless = bet({ late: { ...LATE, operation: same } });
    expect(decide(harmless, CONFIRM_MS)).toEqual({ kind: 'skip' });
    const unknown = { kind: 'unknown', attempted: { kind: 'several' } } as const;
    expect(decide(bet({ settlement: unknown }), CONFIRM_MS)).toEqual({ kind: 'skip' });
    expect(decide(bet({ standingOperationId: undefined }), CONFIRM_MS)).toEqual({ kind: 'skip' });
    expect(decide(bet({ late: undefined }), CONFIRM_MS)).toEqual({ kind: 'skip' });
  });

  it('is the rollback, once that is confirmed, whatever result may land (I5)', () => {
    const rolledBack = bet({ rollback: { kind: 'confirmed', transactionTime: AT } });
    expect(decide(rolledBack, CONFIRM_MS)).toEqual({ kind: 'send', operationId: '7' });
    // A wallet that pays repeats again still returns a stake only once.
    expect(decide(rolledBack, CONFIRM_MS, true)).toEqual({ kind: 'send', operationId: '7' });
  });

  it('is left alone where its rollback is promised and lies with a person', () => {
    const promised = bet({ rollback: { kind: 'promised', transactionTime: AT } });
    expect(decide(promised, CONFIRM_MS)).toEqual({ kind: 'skip' });
  });

  it('is no result of a wallet that would pay it again', () => {
    expect(decide(bet(), CONFIRM_MS, true)).toEqual({ kind: 'skip' });
  });

  it('is left to a person where such a wallet may or may not have paid', () => {
    const unknown = { kind: 'unknown', attempted: { kind: 'several' } } as const;
    const left = { kind: 'leaveToPerson' };
    expect(decide(bet({ settlement: unknown }), CONFIRM_MS, true)).toEqual(left);
  });
});

describe('what may land late once the last confirmation has ended', () => {
  const last = bet({ late: { ...LATE, confirmationsLeft: 1 } });

  it('is one of its own attempts, where it took more than one (I5)', () => {
    const standing = { kind: 'settle', amount: '50', resultType: 'won' };
    expect(lateAfterConfirming(last, 2)).toEqual(standing);
    expect(lateAfterConfirming(last, 1)).toBeUndefined();
  });

  it('is nothing new where another confirmation follows, or the bet is rolled back', () => {
    expect(lateAfterConfirming(bet(), 2)).toBeUndefined();
    const rollback = { kind: 'confirmed', transactionTime: AT } as const;
    expect(lateAfterConfirming({ ...last, rollback }, 2)).toBeUndefined();
  });
});

describe('a confirmation that is done', () => {
  const last = { late: { ...LATE, confirmationsLeft: 1 } };

  it('is followed by the next, which says itself when it is due, until none is left (I5)', () => {
    expect(afterOneConfirmation(bet())).toEqual({ left: 1, dueInMs: 0 });
    expect(afterOneConfirmation(last)).toEqual({ left: 0, dueInMs: undefined });
    expect(afterOneConfirmation({ late: undefined })).toEqual({ left: 0, dueInMs: undefined });
  });

  it('may be a dead letter for a person, if the result is in doubt (I4)', () => {
    const settlement = { kind: 'unknown', attempted: { kind: 'several' } } as const;
    expect(afterLeftToPerson({ ...last, settlement })).toEqual({ left: 0, dueInMs: undefined });
    expect(afterLeftToPerson({ late: undefined, settlement })).toEqual({
      left: 0,
      dueInMs: undefined,
    });
    expect(afterLeftToPerson(bet())).toBeUndefined();
  });

  it('bears the time that the service was answered with for what stands', () => {
    expect(standingTime(bet())).toBe(AT);
    const rollback = { kind: 'confirmed', transactionTime: 'later' } as const;
    expect(standingTime(bet({ rollback }))).toBe('later');
    expect(standingTime(bet({ settlement: { kind: 'none' } }))).toBe('');
  });
});
