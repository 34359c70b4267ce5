import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import type { AfterAttempt } from '../../../src/domain/delivery.ts';
import type { BetOperation } from '../../../src/domain/operation.ts';
import type { AttemptRecord } from '../../../src/store/bets/attempt.ts';
import type { Commit } from '../../../src/store/bets/commit.ts';
import { BetJournal } from '../../../src/store/bets/journal.ts';
import type { Outcome } from '../../../src/store/bets/outcome.ts';
import { ampleDeadline, openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

const AT = '2021-03-05T11:08:00.000Z';
const ROLLED_BACK = { kind: 'confirmed', transactionTime: AT } as const;
const ATTEMPT: AttemptRecord = {
  startedAtMs: 1_614_942_480_000,
  result: 'timeout',
  trace: { sent: true, latencyMs: 900, error: 'no complete answer within 900 ms' },
  error: 'no complete answer within 900 ms',
  answer: undefined,
};

let journal: TestJournal;
let bets: BetJournal;
beforeAll(async () => {
  journal = await openTestJournal();
  bets = new BetJournal(journal.database, journal.clock);
});
afterAll(() => journal.close());

/** An accepted bet of which the journal knows nothing yet. */
function newBet(): Bet {
  return {
    transactionId: randomUUID(),
    owner: journal.owner,
    sessionId: journal.sessionId,
    amount: '12.10',
    currency: 'USD',
    generation: 1,
    released: 0,
    releasedTo: 0,
    place: { kind: 'accepted', transactionTime: AT },
    settlement: { kind: 'none' },
    rollback: { kind: 'none' },
    update: undefined,
    busy: undefined,
    deliveries: [],
    late: undefined,
    standingOperationId: undefined,
    placeAnsweredUnknown: false,
    version: 0,
  };
}

function commitOf(from: Bet, changes: Partial<Bet> = {}, more: Partial<Commit> = {}): Commit {
  const attemptId = changes.busy?.attemptId ?? randomUUID();
  return {
    from,
    to: { ...from, ...changes },
    record: {
      operation: operationOf(changes),
      attemptId,
      requestId: undefined,
      body: Buffer.from('{}'),
      answer: undefined,
    },
    delivery: undefined,
    supersedes: [],
    ...more,
  };
}

function operationOf({ busy }: Partial<Bet>): BetOperation {
  return busy === undefined || busy.operation === 'confirm' ? 'rollback' : busy.operation;
}

/** @returns the operation's id, or why nothing was written */
async function commit(what: Commit): Promise<string> {
  const committed = await bets.commit(what, ampleDeadline());
  return committed.kind === 'committed' ? committed.operationId : committed.kind;
}

async function find({ transactionId }: Bet): Promise<Bet> {
  const bet = await bets.find(transactionId);
  if (bet === undefined) throw new Error('no such bet');
  return bet;
}

async function stored(changes: Partial<Bet> = {}): Promise<Bet> {
  const wanted = commitOf(newBet(), changes);
  await commit(wanted);
  return await find(wanted.to);
}

const guard = (state: 'live' | 'pending') =>
  ({ operation: 'rollback', state, transactionTime: AT, horizonMs: 3_600_000 }) as const;

/** A bet whose rollback is on its way, guarded by a delivery. */
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
    attemptId,
    operationId,
    attempt: ATTEMPT,
    change,
    confirmAfterMs: 60_000,
    delivery: { kind: 'after', after, purpose: 'promise', isCounted: false },
    caller: undefined,
  });
  return { bet, attemptId, outcome };
}

async function deliveriesOf(bet: Bet) {
  return await onServer(journal.url, async (client) => {
    const { rows } = await client.query<{ state: string; attempts: number; due: boolean }>(
      `SELECT state, attempts, next_attempt_at <= clock_timestamp() AS due FROM deliveries
        WHERE transaction_id = $1 ORDER BY id`,
      [bet.transactionId],
    );
    return rows;
  });
}

async function lapse({ transactionId }: Bet): Promise<void> {
  const lapsed = 'UPDATE bets SET busy_until = clock_timestamp() WHERE transaction_id = $1';
  await journal.sql(lapsed, [transactionId]);
}

describe('a commit', () => {
  const states: [string, Partial<Bet>][] = [
    ['accepted', {}],
    ['declined', { place: { kind: 'declined', code: 7, message: 'Not enough money' } }],
    ['not sent', { place: { kind: 'notSent' } }],
    ['unknown', { place: { kind: 'unknown' } }],
    ['unseen', { place: { kind: 'unseen' }, amount: undefined, currency: undefined }],
    ['of nobody', { place: { kind: 'unseen' }, owner: undefined, rollback: ROLLED_BACK }],
    ['refused a rollback', { rollback: { ...ROLLED_BACK, refusal: { code: 8, message: 'Done' } } }],
    ['updated', { update: { key: '1.20', transactionTime: AT } }],
    ['unsettled', { settlement: { kind: 'unsettled', transactionTime: AT } }],
    [
      'settled',
      {
        settlement: {
          kind: 'settled',
          amount: '9007199254740993',
          resultType: 'won',
          transactionTime: AT,
        },
      },
    ],
    ['in flight', { busy: { operation: 'settle', attemptId: randomUUID(), lapsed: false } }],
  ];

  it.each(states)('keeps every fact of a bet that is %s', async (_, changes) => {
    const bet = await stored(changes);
    expect(bet).toEqual({ ...newBet(), ...changes, transactionId: bet.transactionId, version: 1 });
  });

  it('is written by one of many that read the same (I6)', async () => {
    const read = await stored();
    const tries = Array.from({ length: 8 }, () => commitOf(read, { rollback: ROLLED_BACK }));
    const ids = await Promise.all(tries.map(commit));
    expect(ids.filter((id) => id !== 'moved')).toHaveLength(1);
    expect(await find(read)).toMatchObject({ version: 2 });
  });

  it('of a bet not yet there is written by one of many (I6)', async () => {
    const bet = newBet();
    const tries = Array.from({ length: 8 }, () => commitOf(bet));
    const ids = await Promise.all(tries.map(commit));
    expect(ids.filter((id) => id !== 'moved')).toHaveLength(1);
  });

  it('that is repeated because nobody reported it is recognised as our own (I3)', async () => {
    const wanted = commitOf(await stored(), { rollback: ROLLED_BACK });
    const id = await commit(wanted);
    expect(await commit(wanted)).toBe(id);
  });

  it('writes nothing of what it promised where the bet has moved', async () => {
    const read = await stored();
    await commit(commitOf(read, { rollback: ROLLED_BACK }));
    await commit(commitOf(read, {}, { delivery: guard('pending') }));
    expect(await deliveriesOf(read)).toEqual([]);
  });

  it('supersedes nothing where the bet has moved (I4)', async () => {
    const read = await stored();
    await commit(commitOf(read, {}, { delivery: guard('pending') }));
    const supersedes = (await find(read)).deliveries.map(({ id }) => id);
    expect(await commit(commitOf(read, {}, { supersedes }))).toBe('moved');
    expect((await deliveriesOf(read)).map(({ state }) => state)).toEqual(['pending']);
  });

  it('beside an attempt under way does not prolong its lease (I6)', async () => {
    const busy = { operation: 'settle', attemptId: randomUUID(), lapsed: false } as const;
    const bet = await stored({ busy });
    await lapse(bet);
    await commit(commitOf(await find(bet), {}, { delivery: guard('pending') }));
    expect(await find(bet)).toMatchObject({ version: 2, busy: { ...busy, lapsed: true } });
  });

  it('supersedes what lost its meaning together with what it promises', async () => {
    const read = await stored();
    await commit(commitOf(read, {}, { delivery: guard('pending') }));
    const before = await find(read);
    const supersedes = before.deliveries.map(({ id }) => id);
    await commit(commitOf(before, {}, { delivery: guard('pending'), supersedes }));
    expect((await deliveriesOf(read)).map(({ state }) => state)).toEqual(['superseded', 'pending']);
    expect((await find(read)).deliveries).toHaveLength(1);
  });
});

describe('a commit whose caller has been answered', () => {
  /** The caller's time is over by PostgreSQL's clock, whatever this process's says. */
  const past = () => new Deadline(systemClock, systemClock.monotonicMs() - 10_000, 9_000, 0);

  it('writes nothing, of a bet that is there and of one that is not (I11)', async () => {
    const read = await stored();
    const late = commitOf(read, { rollback: ROLLED_BACK }, { delivery: guard('pending') });
    expect(await bets.commit(late, past())).toEqual({ kind: 'tooLate' });
    expect(await find(read)).toEqual(read);
    expect(await deliveriesOf(read)).toEqual([]);
    const bet = newBet();
    expect(await bets.commit(commitOf(bet), past())).toEqual({ kind: 'tooLate' });
    expect(await bets.find(bet.transactionId)).toBeUndefined();
  });

  it('is recognised where it had been written in time and nobody reported it (I3)', async () => {
    const wanted = commitOf(await stored(), { rollback: ROLLED_BACK });
    const id = await commit(wanted);
    expect(await bets.commit(wanted, past())).toEqual({ kind: 'committed', operationId: id });
  });
});

describe('an outcome', () => {
  it('that confirms leaves no delivery behind', async () => {
    const { bet, outcome } = await underWay();
    expect(await deliveriesOf(bet)).toEqual([{ state: 'live', attempts: 0, due: false }]);
    expect(await bets.finish(outcome({ kind: 'delivered' }, { rollback: ROLLED_BACK }))).toEqual({
      kind: 'stands',
    });
    expect(await deliveriesOf(bet)).toEqual([]);
    expect(await find(bet)).toMatchObject({ busy: undefined, rollback: ROLLED_BACK });
  });

  it('that confirms nothing makes the guard work, with its attempt counted (I4)', async () => {
    const { bet, outcome } = await underWay();
    expect(await bets.finish(outcome({ kind: 'pending', retryInMs: 60_000 }))).toEqual({
      kind: 'stands',
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
