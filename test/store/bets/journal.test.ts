import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AfterAttempt } from '../../../src/domain/delivery.ts';
import type { AttemptRecord } from '../../../src/store/bets/attempt-record.ts';
import type { Outcome } from '../../../src/store/bets/outcome.ts';
import {
  AT,
  bets,
  commit,
  commitOf,
  deliveriesOf,
  find,
  guard,
  journal,
  lapse,
  newBet,
  ROLLED_BACK,
  stored,
  useBets,
} from './support/bets.ts';

const ATTEMPT: AttemptRecord = {
  startedAtMs: 1_614_942_480_000,
  result: 'timeout',
  trace: { sent: true, latencyMs: 900, error: 'no complete answer within 900 ms' },
  error: 'no complete answer within 900 ms',
  answer: undefined,
};

useBets();

/** A bet whose rollback is under way, guarded by a delivery. */
async function underWay() {
  const bet = newBet();
  const attemptId = randomUUID();
  const busy = { operation: 'rollback', attemptId, lapsed: false } as const;
  const operationId = await commit(
    commitOf(
      bet,
      { busy, rollback: { kind: 'promised', transactionTime: AT } },
      {
        delivery: guard('live'),
      },
    ),
  );
  const outcome = (after: AfterAttempt, change: Outcome['change'] = {}): Outcome => ({
    transactionId: bet.transactionId,
    bet: undefined,
    attemptId,
    operationId,
    attempt: ATTEMPT,
    change,
    confirmAfterMs: 60_000,
    delivery: { kind: 'after', after, purpose: 'promise', promisedTime: AT, isCounted: false },
    caller: undefined,
  });
  return { bet, attemptId, outcome };
}

describe('an outcome', () => {
  it('that confirms leaves no delivery behind', async () => {
    const { bet, outcome } = await underWay();
    expect(await deliveriesOf(bet)).toEqual([{ state: 'live', attempts: 0, due: false }]);
    expect(await bets.finish(outcome({ kind: 'delivered' }, { rollback: ROLLED_BACK }))).toEqual({
      kind: 'committed',
    });
    expect(await deliveriesOf(bet)).toEqual([]);
    expect(await find(bet)).toMatchObject({ busy: undefined, rollback: ROLLED_BACK });
  });

  it('that confirms nothing makes the guard work, with its attempt counted (I4)', async () => {
    const { bet, outcome } = await underWay();
    expect(await bets.finish(outcome({ kind: 'pending', retryInMs: 60_000 }))).toEqual({
      kind: 'committed',
    });
    expect(await deliveriesOf(bet)).toEqual([{ state: 'pending', attempts: 1, due: false }]);
    expect(await find(bet)).toMatchObject({ busy: undefined, rollback: { kind: 'promised' } });
  });

  it('of an attempt whose lease ended is not taken, but kept to be seen (I6)', async () => {
    const { bet, attemptId, outcome } = await underWay();
    await lapse(bet);
    await bets.recover(bet.transactionId, attemptId);
    expect(await bets.finish(outcome({ kind: 'delivered' }, { rollback: ROLLED_BACK }))).toEqual({
      kind: 'lost',
    });
    expect(await find(bet)).toMatchObject({ rollback: { kind: 'promised' } });
    expect((await deliveriesOf(bet)).map(({ state }) => state)).toEqual(['pending']);
    expect(await journal.state(bet.transactionId)).toMatchObject({ attempts: ['timeout'] });
  });
});

describe('what a killed process left in flight', () => {
  it('is left alone until its lease ends, on PostgreSQL’s clock', async () => {
    const { bet, attemptId } = await underWay();
    expect(await find(bet)).toMatchObject({ busy: { operation: 'rollback', lapsed: false } });
    expect(await bets.recover(bet.transactionId, attemptId)).toBe(false);
    expect(await find(bet)).toMatchObject({ busy: { attemptId } });
    await lapse(bet);
    expect(await find(bet)).toMatchObject({ busy: { lapsed: true } });
  });

  it('is left alone by a process that has read of an earlier attempt (I6)', async () => {
    const { bet, attemptId } = await underWay();
    await lapse(bet);
    await bets.recover(bet.transactionId, randomUUID());
    expect(await find(bet)).toMatchObject({ busy: { attemptId } });
  });

  it('becomes unknown, and its guard becomes work that is due (I4)', async () => {
    const { bet, attemptId } = await underWay();
    await lapse(bet);
    expect(await bets.recover(bet.transactionId, attemptId)).toBe(true);
    expect((await find(bet)).busy).toBeUndefined();
    expect(await deliveriesOf(bet)).toEqual([{ state: 'pending', attempts: 0, due: true }]);
    expect(await bets.recover(bet.transactionId, attemptId)).toBe(false);
  });

  it.each([
    ['settle', { settlement: { kind: 'unknown' } }],
    ['unsettle', { settlement: { kind: 'unknown' } }],
    ['place', { place: { kind: 'unknown' } }],
    ['update', { settlement: { kind: 'none' }, place: { kind: 'accepted' } }],
  ] as const)('of a %s is what it says (I5)', async (operation, state) => {
    const busy = { operation, attemptId: randomUUID(), lapsed: false };
    const bet = await stored({ busy });
    await lapse(bet);
    const recovered = expect.objectContaining({ transactionId: bet.transactionId, operation });
    expect(await bets.recoverLapsed(100)).toContainEqual(recovered);
    expect(await find(bet)).toMatchObject({ ...state, busy: undefined });
  });
});
