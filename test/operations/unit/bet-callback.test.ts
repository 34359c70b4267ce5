import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Bet, Busy } from '../../../src/domain/bet.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import { BetCallback } from '../../../src/operations/bet-callback.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import { failure } from '../../../src/protocol/answers.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { BETS, bet, body, message } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

/** What all operations of a bet have in common, with parts that behave as the test says. */

const ID = 'b26153f9';
const AT = '2026-01-02T03:04:05.000Z';
const BET: Bet = {
  ...{ ...FRESH, transactionId: ID, version: 3 },
  ...{ owner: { operatorId: 'alpha', playerId: '1', userId: '1999', operatorUser: 'ann' } },
};
const NOBODYS: Bet = { ...BET, owner: undefined };
const busyWith = (operation: Busy['operation'], attemptId: string): Bet => ({
  ...BET,
  busy: { operation, attemptId, lapsed: false },
});
const FIRST = failure(21, 'Too late');

/** A settle of the bet as each look finds it; later looks find the last one. */
function settleOf(...looks: readonly (Bet | undefined)[]) {
  const left = [...looks];
  const counts = { duplicates: vi.fn(), conflicts: vi.fn() };
  const log = { warn: vi.fn(), error: vi.fn() };
  const next = vi.fn(async (_id: string, _deadline: Deadline, _turn: number) => true);
  const answerOf = vi.fn(async (_: object): Promise<object | undefined> => undefined);
  const find = vi.fn(async () => (left.length > 1 ? left.shift() : left[0]));
  const callbacks = partly<Callbacks>({
    bets: { find, answerOf },
    players: { findForBet: async () => undefined },
    configuration: () => ({ operators: new Map() }),
    changes: { next },
    metrics: {
      duplicates: { inc: counts.duplicates },
      conflicts: { inc: counts.conflicts },
    },
    logger: log,
  });
  const deadline = new Deadline(new TestClock(), 1_000, 1_000, 300);
  const callback = new BetCallback(callbacks, message(bet('settle')), Buffer.from(''), deadline);
  return { ...{ callback, deadline, counts, log, next, find, answerOf } };
}

const recorded = { body: body(BETS.settle.members), answer: FIRST };
const duplicateOf = (operator: string, source: string) => [
  [{ operator, operation: 'settle', source }],
];

describe('the bet of an operation', () => {
  it('is the journal’s, and the first look asks for nothing else', async () => {
    const { callback, answerOf } = settleOf(BET);
    expect(callback.transactionId).toBe(ID);
    expect(await callback.find()).toEqual({ kind: 'bet', bet: BET });
    expect(answerOf).not.toHaveBeenCalled();
  });

  it('belongs to nobody if neither bet nor player is known', async () => {
    expect(await settleOf(undefined).callback.find()).toEqual({ kind: 'nobody' });
  });

  it('of another player is a conflict: counted, logged, never sent (I8, I10)', async () => {
    const owner = { operatorId: 'beta', playerId: '2', userId: '2000', operatorUser: 'bob' };
    const { callback, counts, log } = settleOf({ ...BET, owner });
    const why = "the bet is another player's";
    expect(await callback.find()).toEqual({
      kind: 'answered',
      handled: {
        ...{ answer: failure(5, `transactionId: ${why}`), outcome: 'conflict' },
        ...{ operatorId: 'beta', detail: { code: 5 } },
      },
    });
    expect(counts.conflicts.mock.calls).toEqual([[{ operator: 'beta' }]]);
    const facts = { operator: 'beta', operation: 'settle', transactionId: ID, why };
    expect(log.warn.mock.calls).toEqual([[facts, 'bet.conflict']]);
  });
});

describe('an operation that finds another on its way', () => {
  it('waits for it, longer each time, until its deadline says otherwise (I1, I6)', async () => {
    const busy = busyWith('settle', 'first');
    const { callback, deadline, next } = settleOf(busy);
    await callback.find();
    expect(await callback.wait(busy)).toBe(true);
    await callback.find();
    next.mockResolvedValue(false);
    expect(await callback.wait(busy)).toBe(false);
    expect(next.mock.calls).toEqual([
      [ID, deadline, 0],
      [ID, deadline, 1],
    ]);
  });

  it('gets the answer of the first where that was the same, and is counted (I3, I5)', async () => {
    const { callback, counts, answerOf } = settleOf(busyWith('settle', 'first'), BET);
    answerOf.mockResolvedValue(recorded);
    await callback.find();
    await callback.wait(busyWith('settle', 'first'));
    expect(await callback.find()).toEqual({
      kind: 'answered',
      handled: { answer: FIRST, outcome: 'duplicate', operatorId: 'alpha' },
    });
    expect(answerOf.mock.calls).toEqual([[{ transactionId: ID, attemptId: 'first' }]]);
    expect(counts.duplicates.mock.calls).toEqual(duplicateOf('alpha', 'in_flight'));
  });

  it('does not ask for that answer while the first is still on its way', async () => {
    const busy = busyWith('settle', 'first');
    const { callback, answerOf } = settleOf(busy);
    answerOf.mockResolvedValue(recorded);
    await callback.find();
    await callback.wait(busy);
    expect(await callback.find()).toEqual({ kind: 'bet', bet: busy });
    expect(answerOf).not.toHaveBeenCalled();
  });
});

describe('what the journal decides alone', () => {
  it('is a success again (I3)', async () => {
    const { callback, counts } = settleOf(BET);
    await callback.find();
    const handled = callback.answerKnown(BET, { kind: 'repeat', transactionTime: AT });
    expect(handled).toEqual({
      answer: { status: 200, body: `{"transactionId":"${ID}","transactionTime":"${AT}"}` },
      ...{ outcome: 'duplicate', operatorId: 'alpha' },
    });
    expect(counts.duplicates.mock.calls).toEqual(duplicateOf('alpha', 'journal'));
  });

  it('is a refusal again, also of a bet that nobody owns (I3)', async () => {
    const { callback, counts } = settleOf(NOBODYS);
    await callback.find();
    await callback.find();
    const refusal = { kind: 'repeatRefusal', code: 21, message: 'Too late' } as const;
    expect(callback.answerKnown(NOBODYS, refusal)).toEqual({
      ...{ answer: FIRST, outcome: 'duplicate', operatorId: undefined },
    });
    expect(counts.duplicates.mock.calls).toEqual(duplicateOf('unknown', 'in_flight'));
  });

  it.each([
    ['of its operator', BET, 'alpha', 'alpha'],
    ['of nobody', NOBODYS, undefined, 'unknown'],
  ])('is a conflict %s: counted and logged (I10)', (_, known, operatorId, operator) => {
    const { callback, counts, log } = settleOf(known);
    const why = 'the bet was never accepted';
    expect(callback.answerKnown(known, { kind: 'conflict', why })).toEqual({
      ...{ answer: failure(5, `transactionId: ${why}`), outcome: 'conflict', operatorId },
      detail: { code: 5 },
    });
    expect(counts.conflicts.mock.calls).toEqual([[{ operator }]]);
    const facts = { operator: operatorId, operation: 'settle', transactionId: ID, why };
    expect(log.warn.mock.calls).toEqual([[facts, 'bet.conflict']]);
  });

  it.each([
    [BET, 'alpha'],
    [NOBODYS, undefined],
  ])('is 503 for a result of a place that nobody knows, and an alarm (I2)', (known, operatorId) => {
    const { callback, log } = settleOf(known);
    expect(callback.answerKnown(known, { kind: 'unresolved' })).toEqual({
      ...{ answer: failure(100, 'System error', 503), outcome: 'unknown', operatorId },
      detail: { reason: 'place_unknown' },
    });
    const why = 'the service settles a bet whose place was answered 100';
    const facts = { operator: operatorId, operation: 'settle', transactionId: ID, why };
    expect(log.error.mock.calls).toEqual([[facts, 'bet.result_for_unknown_place']]);
  });
});

describe('a last look at the bet', () => {
  const busy = busyWith('settle', 'first');
  const found = { kind: 'bet', bet: busy };

  it('shows the bet as it is by now', async () => {
    expect(await settleOf(BET).callback.lastLook(busy)).toEqual({ kind: 'bet', bet: BET });
  });

  it('is over in half of the time that is left: then the bet is as it was read (I1)', async () => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { callback, deadline, find } = settleOf(BET);
    find.mockReturnValue(new Promise(() => undefined));
    const look = callback.lastLook(busy);
    const ended = vi.fn();
    void look.then(ended);
    await vi.advanceTimersByTimeAsync(deadline.answerMs() / 2 - 1);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await look).toEqual(found);
  });
});

describe('what a last look tells a copy of the first', () => {
  const busy = busyWith('settle', 'first');
  const refusedOnce = (now: Bet) =>
    now.version > 3
      ? ({ kind: 'repeatRefusal', code: 21, message: 'Too late' } as const)
      : undefined;

  it('is what the first was answered, where that is on record (I3)', async () => {
    const { callback, answerOf } = settleOf(busyWith('settle', 'another'));
    answerOf.mockResolvedValue(recorded);
    await callback.wait(busy);
    expect(await callback.firstByNow(busy, () => undefined)).toEqual({
      ...{ answer: FIRST, outcome: 'duplicate', operatorId: 'alpha' },
    });
  });

  it('is what the bet says by now, counted as a copy (I3)', async () => {
    const { callback, counts } = settleOf({ ...BET, version: 4 });
    expect(await callback.firstByNow(busy, refusedOnce)).toEqual({
      ...{ answer: FIRST, outcome: 'duplicate', operatorId: 'alpha' },
    });
    expect(counts.duplicates.mock.calls).toEqual(duplicateOf('alpha', 'journal'));
  });

  it('is nothing while the first is still on its way', async () => {
    const { callback, counts } = settleOf(busy);
    expect(await callback.firstByNow(busy, refusedOnce)).toBeUndefined();
    expect(counts.duplicates).not.toHaveBeenCalled();
  });
});
