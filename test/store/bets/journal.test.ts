import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import type { AttemptRecord } from '../../../src/store/bets/attempt.ts';
import { BetJournal, type Commit, type Outcome } from '../../../src/store/bets/journal.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

const AT = '2021-03-05T11:08:00.000Z';
const ROLLED_BACK = { kind: 'confirmed', transactionTime: AT } as const;
const ATTEMPT: AttemptRecord = {
  startedAtMs: 1_614_942_480_000,
  result: 'timeout',
  trace: { sent: true, latencyMs: 900, error: 'no complete answer within 900 ms' },
  answer: undefined,
};

let journal: TestJournal;
let bets: BetJournal;
beforeAll(async () => {
  journal = await openTestJournal();
  bets = new BetJournal(journal.database);
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
    place: { kind: 'accepted', transactionTime: AT },
    settlement: { kind: 'none' },
    rollback: { kind: 'none' },
    update: undefined,
    busy: undefined,
    deliveries: [],
    version: 0,
  };
}

function commitOf(from: Bet, changes: Partial<Bet> = {}, more: Partial<Commit> = {}): Commit {
  const attemptId = changes.busy?.attemptId ?? randomUUID();
  return {
    from,
    to: { ...from, ...changes },
    record: {
      operation: changes.busy?.operation ?? 'rollback',
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

async function find({ transactionId }: Bet): Promise<Bet> {
  const bet = await bets.find(transactionId);
  if (bet === undefined) throw new Error('no such bet');
  return bet;
}

async function stored(changes: Partial<Bet> = {}): Promise<Bet> {
  const commit = commitOf(newBet(), changes);
  await bets.commit(commit);
  return await find(commit.to);
}

const guard = (state: 'live' | 'pending') =>
  ({ operation: 'rollback', state, transactionTime: AT, horizonMs: 3_600_000 }) as const;

/** A bet whose rollback is on its way, guarded by a delivery. */
async function underWay() {
  const bet = newBet();
  const attemptId = randomUUID();
  const busy = { operation: 'rollback', attemptId, lapsed: false } as const;
  const operationId = await bets.commit(
    commitOf(
      bet,
      { busy, rollback: { kind: 'promised', transactionTime: AT } },
      {
        delivery: guard('live'),
      },
    ),
  );
  if (operationId === undefined) throw new Error('not committed');
  const outcome = (delivery: Outcome['delivery'], more: Partial<Outcome> = {}): Outcome => ({
    transactionId: bet.transactionId,
    attemptId,
    operationId,
    attempt: ATTEMPT,
    delivery,
    ...more,
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
    const ids = await Promise.all(tries.map((commit) => bets.commit(commit)));
    expect(ids.filter((id) => id !== undefined)).toHaveLength(1);
    expect(await find(read)).toMatchObject({ version: 2 });
  });

  it('of a bet not yet there is written by one of many (I6)', async () => {
    const bet = newBet();
    const tries = Array.from({ length: 8 }, () => commitOf(bet));
    const ids = await Promise.all(tries.map((commit) => bets.commit(commit)));
    expect(ids.filter((id) => id !== undefined)).toHaveLength(1);
  });

  it('that is repeated because nobody reported it is recognised as our own (I3)', async () => {
    const commit = commitOf(await stored(), { rollback: ROLLED_BACK });
    const id = await bets.commit(commit);
    expect(await bets.commit(commit)).toBe(id);
  });

  it('writes nothing of what it promised where the bet has moved', async () => {
    const read = await stored();
    await bets.commit(commitOf(read, { rollback: ROLLED_BACK }));
    await bets.commit(commitOf(read, {}, { delivery: guard('pending') }));
    expect(await deliveriesOf(read)).toEqual([]);
  });

  it('supersedes what lost its meaning together with what it promises', async () => {
    const read = await stored();
    await bets.commit(commitOf(read, {}, { delivery: guard('pending') }));
    const before = await find(read);
    const supersedes = before.deliveries.map(({ id }) => id);
    await bets.commit(commitOf(before, {}, { delivery: guard('pending'), supersedes }));
    expect((await deliveriesOf(read)).map(({ state }) => state)).toEqual(['superseded', 'pending']);
    expect((await find(read)).deliveries).toHaveLength(1);
  });
});

describe('an outcome', () => {
  it('that confirms leaves no delivery behind', async () => {
    const { bet, outcome } = await underWay();
    expect(await deliveriesOf(bet)).toEqual([{ state: 'live', attempts: 0, due: false }]);
    expect(await bets.finish(outcome({ kind: 'delivered' }, { rollback: ROLLED_BACK }))).toBe(true);
    expect(await deliveriesOf(bet)).toEqual([]);
    expect(await find(bet)).toMatchObject({ busy: undefined, rollback: ROLLED_BACK });
  });

  it('that confirms nothing makes the guard work, with its attempt counted (I4)', async () => {
    const { bet, outcome } = await underWay();
    expect(await bets.finish(outcome({ kind: 'pending', retryInMs: 60_000 }))).toBe(true);
    expect(await deliveriesOf(bet)).toEqual([{ state: 'pending', attempts: 1, due: false }]);
    expect(await find(bet)).toMatchObject({ busy: undefined, rollback: { kind: 'promised' } });
  });

  it('of an attempt whose lease ended is not taken, but kept to be seen (I6)', async () => {
    const { bet, attemptId, outcome } = await underWay();
    await lapse(bet);
    await bets.recover(bet.transactionId, attemptId);
    expect(await bets.finish(outcome({ kind: 'delivered' }, { rollback: ROLLED_BACK }))).toBe(
      false,
    );
    expect(await find(bet)).toMatchObject({ rollback: { kind: 'promised' } });
    expect((await deliveriesOf(bet)).map(({ state }) => state)).toEqual(['pending']);
    expect(await journal.state(bet.transactionId)).toMatchObject({ attempts: ['timeout'] });
  });
});

describe('what a killed process left in flight', () => {
  it('is left alone until its lease ends, on PostgreSQL’s clock', async () => {
    const { bet, attemptId } = await underWay();
    expect(await find(bet)).toMatchObject({ busy: { operation: 'rollback', lapsed: false } });
    await bets.recover(bet.transactionId, attemptId);
    expect(await find(bet)).toMatchObject({ busy: { attemptId } });
    await lapse(bet);
    expect(await find(bet)).toMatchObject({ busy: { lapsed: true } });
  });

  it('becomes unknown, and its guard becomes work that is due (I4)', async () => {
    const { bet, attemptId } = await underWay();
    await lapse(bet);
    await bets.recover(bet.transactionId, attemptId);
    expect((await find(bet)).busy).toBeUndefined();
    expect(await deliveriesOf(bet)).toEqual([{ state: 'pending', attempts: 0, due: true }]);
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
