import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import type { AttemptRecord } from '../../../src/store/bets/attempt-record.ts';
import type { Outcome } from '../../../src/store/bets/outcome.ts';
import { onServer } from '../../support/server.ts';
import {
  AT,
  bets,
  commit,
  commitOf,
  deliveriesOf,
  find,
  journal,
  lapse,
  newBet,
  useBets,
} from './support/bets.ts';

const LATER = '2021-03-05T11:09:00.000Z';
const ATTEMPT: AttemptRecord = {
  startedAtMs: 1_614_942_480_000,
  result: 'accepted',
  trace: { sent: true, latencyMs: 900, status: 200 },
  error: undefined,
  answer: { status: 200, body: '{"is":"meant"}' },
};
const HOUR_MS = 3_600_000;
const inTime = () => new Date(Date.now() + HOUR_MS);
const tooLate = () => new Date(Date.now() - HOUR_MS);

useBets();

/** A bet whose operation is under way, and its outcome. */
async function underWay(operation: 'settle' | 'rollback', changes: Partial<Bet> = {}) {
  const bet = newBet();
  const attemptId = randomUUID();
  const busy = { operation, attemptId, lapsed: false };
  const operationId = await commit(commitOf(bet, { busy, ...changes }));
  const outcome = (before: Date, more: Partial<Outcome>): Outcome => ({
    transactionId: bet.transactionId,
    bet: undefined,
    attemptId,
    operationId,
    attempt: ATTEMPT,
    change: {},
    confirmAfterMs: 60_000,
    delivery: { kind: 'none' },
    caller: { before, lateAnswer: { status: 503, body: '{"was":"told"}' } },
    ...more,
  });
  const attempts = () =>
    onServer(journal.url, async (client) => {
      const text = 'SELECT answer_status, confirmed FROM attempts WHERE operation_id = $1';
      return (await client.query(text, [operationId])).rows;
    });
  return { bet, attemptId, outcome, attempts };
}

const settled = (transactionTime: string) =>
  ({ kind: 'settled', amount: '5', resultType: 'won', transactionTime }) as const;

it('a rollback that was answered with its promise keeps that time, whatever came late (I4)', async () => {
  const promised = { rollback: { kind: 'promised', transactionTime: AT } } as const;
  for (const [before, time] of [
    [tooLate(), AT],
    [inTime(), LATER],
  ] as const) {
    const { bet, outcome } = await underWay('rollback', promised);
    const rollback = { kind: 'confirmed', transactionTime: LATER } as const;
    await bets.finish(outcome(before, { change: { rollback } }));
    expect((await find(bet)).rollback).toEqual({ kind: 'confirmed', transactionTime: time });
  }
});

it('and tells copies of it no refusal that came late: it was answered 200 (I11)', async () => {
  const refusal = { code: 8, message: 'Done before' };
  const rollback = { kind: 'confirmed', transactionTime: LATER, refusal } as const;
  const promised = { rollback: { kind: 'promised', transactionTime: AT } } as const;
  const late = await underWay('rollback', promised);
  await bets.finish(late.outcome(tooLate(), { change: { rollback } }));
  expect((await find(late.bet)).rollback).toEqual({ kind: 'confirmed', transactionTime: AT });
  const timely = await underWay('rollback', promised);
  await bets.finish(timely.outcome(inTime(), { change: { rollback } }));
  expect((await find(timely.bet)).rollback).toEqual(rollback);
});

it.each([
  ['pending', inTime, ['pending']],
  ['pending', tooLate, []],
  ['dead', tooLate, ['dead']],
] as const)(
  'a %s promise after an attempt is recorded as it was answered, answered or not (I11)',
  async (state, before, left) => {
    const { bet, outcome } = await underWay('settle');
    const delivery = {
      operation: 'settle',
      state,
      transactionTime: AT,
      horizonMs: HOUR_MS,
    } as const;
    await bets.finish(outcome(before(), { delivery: { kind: 'new', delivery, retryInMs: 0 } }));
    expect((await deliveriesOf(bet)).map((one) => one.state)).toEqual(left);
  },
);

it('a place that was answered 100 stays so, whatever its results bring (I3)', async () => {
  const { bet, outcome } = await underWay('settle');
  const { transactionId } = bet;
  await journal.sql('UPDATE bets SET place_answered_unknown = true WHERE transaction_id = $1', [
    transactionId,
  ]);
  await bets.finish(outcome(inTime(), { change: { settlement: settled(LATER) } }));
  expect(await find(bet)).toMatchObject({
    placeAnsweredUnknown: true,
    settlement: { kind: 'settled' },
  });
});

it('a result of an attempt that has lost its bet is kept, and not in the books (I12)', async () => {
  const change = { settlement: settled(LATER), stands: true } as const;
  const kept = await underWay('settle');
  expect(await bets.finish(kept.outcome(inTime(), { change }))).toEqual({ kind: 'committed' });
  expect(await kept.attempts()).toEqual([{ answer_status: 200, confirmed: true }]);
  const lost = await underWay('settle');
  await lapse(lost.bet);
  await bets.recover(lost.bet.transactionId, lost.attemptId);
  expect(await bets.finish(lost.outcome(tooLate(), { change }))).toEqual({ kind: 'lost' });
  expect(await lost.attempts()).toEqual([{ answer_status: 503, confirmed: false }]);
  expect(await find(lost.bet)).toMatchObject({ settlement: { kind: 'unknown' } });
});
