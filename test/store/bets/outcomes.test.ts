import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import { BetJournal } from '../../../src/store/bets/journal.ts';
import type { Outcome } from '../../../src/store/bets/outcome.ts';
import { Database } from '../../../src/store/database.ts';
import type { SqlValue } from '../../../src/store/sql/sql-value.ts';
import type { Statement } from '../../../src/store/sql/statement.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { ampleDeadline, openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

/** What happens to an outcome whose statement is lost; the test of rule 15 uses real connections. */

/**
 * `unsent`: it never arrives. `unheard`: it is executed, and its answer is lost. `underWay`: the same, but it is
 * not finished yet. `late`: it arrives when the test says so.
 */
type Fate = 'unsent' | 'unheard' | 'underWay' | 'late';

/** A database that loses statements that write outcomes, with the first of these fates first. */
class LosingDatabase extends Database {
  fates: Fate[] = [];
  /** Names of the statements that were sent. */
  readonly sent: string[] = [];
  readonly late: (() => Promise<unknown>)[] = [];
  underWay: Promise<unknown> | undefined;
  /** What others do before a lost statement is sent again. */
  meanwhile: (() => Promise<unknown>) | undefined;

  protected override async query(statement: Statement, values: readonly SqlValue[]) {
    if (!statement.name.startsWith('bet-finish')) return await super.query(statement, values);
    this.sent.push(statement.name);
    const fate = this.fates.shift();
    if (fate === undefined) return await super.query(statement, values);
    if (fate === 'unheard') await super.query(statement, values);
    if (fate === 'underWay') this.underWay = super.query(statement, values);
    if (fate === 'late') this.late.push(() => super.query(statement, values));
    await this.meanwhile?.();
    throw new GatewayError('DATABASE_UNAVAILABLE', 'connection lost');
  }
}

let journal: TestJournal;
let database: LosingDatabase;
let bets: BetJournal;
beforeAll(async () => {
  journal = await openTestJournal((url) => {
    database = new LosingDatabase({ url, connectionsMax: 8, onIdleError: () => undefined });
    return database;
  });
  bets = new BetJournal(journal.database, journal.clock);
});
beforeEach(() => {
  database.sent.length = 0;
  database.meanwhile = undefined;
});
afterAll(() => journal.close());

const AT = '2021-03-05T11:08:00.000Z';
const UNAVAILABLE = expect.objectContaining({ code: 'DATABASE_UNAVAILABLE' });
const WRITTEN = { busy: null, settlement: 'settled', attempts: ['accepted'] };

type Attempt = Pick<Outcome, 'attemptId' | 'operationId'>;

/** Commits a settle of the bet as it is. */
async function begin(bet: Bet): Promise<Attempt> {
  const attemptId = randomUUID();
  const begun = await bets.commit(
    {
      from: bet,
      to: { ...bet, busy: { operation: 'settle', attemptId, lapsed: false } },
      record: {
        ...{ operation: 'settle', attemptId, requestId: undefined },
        ...{ body: Buffer.from('{}'), answer: undefined },
      },
      delivery: undefined,
      supersedes: [],
    },
    ampleDeadline(),
  );
  if (begun.kind !== 'committed') throw new Error(`it is ${begun.kind}`);
  return { attemptId, operationId: begun.operationId };
}

/** A bet whose settle its wallet has accepted, which is not recorded yet. */
async function settled(changes: Partial<Outcome> = {}): Promise<Outcome> {
  const transactionId = randomUUID();
  const begun = await begin({
    ...FRESH,
    ...{ transactionId, owner: journal.owner, sessionId: journal.sessionId, version: 0 },
    place: { kind: 'accepted', transactionTime: AT },
  });
  return {
    ...{ transactionId, ...begun, caller: undefined, confirmAfterMs: 60_000 },
    bet: await bets.find(transactionId),
    attempt: {
      ...{ startedAtMs: Date.parse(AT), result: 'accepted', error: undefined, answer: undefined },
      trace: { sent: true, latencyMs: 12, status: 200 },
    },
    change: {
      settlement: { kind: 'settled', amount: '20', resultType: 'won', transactionTime: AT },
      stands: true,
    },
    delivery: { kind: 'none' },
    ...changes,
  };
}

const state = ({ transactionId }: Outcome) => journal.state(transactionId);

async function found({ transactionId }: Outcome): Promise<Bet> {
  const bet = await bets.find(transactionId);
  if (bet === undefined) throw new Error('there is no bet');
  return bet;
}

/** Its lease has ended, and another attempt owns the bet. */
const takeAway = (outcome: Outcome | undefined) =>
  journal.sql('UPDATE bets SET busy_attempt = gen_random_uuid() WHERE transaction_id = $1', [
    outcome?.transactionId,
  ]);

describe('outcomes of deliveries, for which nobody waits', () => {
  it('are written in one statement that come within some milliseconds', async () => {
    const [first, second] = [await settled(), await settled()];
    const written = [bets.finish(first)];
    await new Promise((resolve) => setImmediate(resolve));
    expect(database.sent).toEqual([]);
    written.push(bets.finish(second));
    expect(await Promise.all(written)).toEqual([{ kind: 'committed' }, { kind: 'committed' }]);
    expect(database.sent).toEqual(['bet-finish']);
  });

  it('go along with the next one of a callback, which never waits for them', async () => {
    const caller = {
      before: new Date(Date.now() + 60_000),
      lateAnswer: { status: 503, body: '{"code":100}' },
    };
    const [delivered, answered] = [await settled(), await settled({ caller })];
    const written = [bets.finish(delivered), bets.finish(answered)];
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(database.sent).toEqual(['bet-finish']);
    expect(await Promise.all(written)).toEqual([{ kind: 'committed' }, { kind: 'committed' }]);
  });
});

describe('an outcome whose statement is lost', () => {
  it.each([1, 4])('%i times on its way is written by the next one (I3)', async (times) => {
    const outcome = await settled();
    database.fates = Array.from({ length: times }, () => 'unsent');
    expect(await bets.finish(outcome)).toEqual({ kind: 'committed' });
    expect(await state(outcome)).toMatchObject(WRITTEN);
    expect(database.sent).toEqual([
      'bet-finish',
      ...Array.from({ length: times }, () => 'bet-finish'),
    ]);
  });

  it('is written late where its caller’s time was over by then, as it was told (I11)', async () => {
    const lateAnswer = { status: 503, body: '{"code":100}' };
    const before = new Date(Date.now() - 1_000);
    const outcome = await settled({ caller: { before, lateAnswer } });
    database.fates = ['unsent'];
    expect(await bets.finish(outcome)).toEqual({ kind: 'late' });
    expect(await state(outcome)).toMatchObject(WRITTEN);
    const told = await onServer(journal.url, (client) =>
      client.query('SELECT answer_status, answer_body FROM attempts WHERE operation_id = $1', [
        outcome.operationId,
      ]),
    );
    expect(told.rows).toEqual([{ answer_status: 503, answer_body: '{"code":100}' }]);
  });

  it('after it was done is written once: of a delivery nobody is told that it stands (I3)', async () => {
    const outcome = await settled();
    database.fates = ['unheard'];
    await expect(bets.finish(outcome)).rejects.toEqual(UNAVAILABLE);
    expect(await state(outcome)).toMatchObject(WRITTEN);
  });

  it('after it was done is told to its caller as it is on record, in time or late (I3)', async () => {
    const lateAnswer = { status: 503, body: '{"code":100}' };
    const answer = { status: 200, body: '{"transactionId":"1"}' };
    const told = async (beforeMs: number) => {
      const caller = { before: new Date(Date.now() + beforeMs), lateAnswer };
      const { attempt, ...outcome } = await settled({ caller });
      database.fates = ['unheard'];
      const finished = await bets.finish({ ...outcome, attempt: { ...attempt, answer } });
      return { ...finished, recorded: (await bets.answerOf(outcome))?.answer };
    };
    expect(await told(60_000)).toEqual({ kind: 'committed', recorded: answer });
    expect(await told(-1_000)).toEqual({ kind: 'late', recorded: lateAnswer });
  });

  it('is given up after four repeats, and written as told when PostgreSQL is back (I4, I11)', async () => {
    const lateAnswer = { status: 503, body: '{"code":100}' };
    const caller = { before: new Date(Date.now() + 60_000), lateAnswer };
    const outcome = await settled({ caller });
    database.fates = Array.from({ length: 12 }, () => 'unsent');
    await expect(bets.finish(outcome)).rejects.toEqual(UNAVAILABLE);
    expect(database.sent).toHaveLength(5);
    expect(await state(outcome)).toMatchObject({ busy: 'settle', attempts: [] });
    await expect.poll(() => state(outcome), { timeout: 10_000 }).toMatchObject(WRITTEN);
    expect((await bets.answerOf(outcome))?.answer).toEqual(lateAnswer);
  });

  it('does not affect the attempt that owns the bet by then: it was executed, and is sent again (I6)', async () => {
    const outcome = await settled();
    let next: Attempt | undefined;
    database.fates = ['unheard'];
    database.meanwhile = async () => {
      next = await begin(await found(outcome));
    };
    await expect(bets.finish(outcome)).rejects.toEqual(UNAVAILABLE);
    expect(await found(outcome)).toMatchObject({ busy: { attemptId: next?.attemptId } });
    expect(await state(outcome)).toMatchObject({ ...WRITTEN, busy: 'settle' });
  });

  it('and its repeats, which somebody with a lock on the bet keeps waiting, write it once (I5)', async () => {
    const outcome = await settled();
    database.fates = ['underWay'];
    const finished = await onServer(journal.url, async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM bets WHERE transaction_id = $1 FOR UPDATE', [
        outcome.transactionId,
      ]);
      const finishing = bets.finish(outcome).then(
        ({ kind }) => kind,
        ({ code }) => code,
      );
      await expect.poll(() => database.sent.length, { timeout: 10_000 }).toBeGreaterThan(2);
      await client.query('COMMIT');
      return await finishing;
    });
    await database.underWay;
    expect(['committed', 'DATABASE_UNAVAILABLE']).toContain(finished);
    expect(await state(outcome)).toMatchObject(WRITTEN);
  });

  it('takes nothing from them either where it lands at last, after it was sent again (I6)', async () => {
    const outcome = await settled();
    database.fates = ['late'];
    expect(await bets.finish(outcome)).toEqual({ kind: 'committed' });
    const { attemptId } = await begin(await found(outcome));
    const before = await found(outcome);
    for (const land of database.late.splice(0)) await land();
    expect(before).toMatchObject({ busy: { attemptId }, settlement: { amount: '20' } });
    expect(await found(outcome)).toEqual(before);
  });

  it('is not taken for one that lost its lease: that is certain only of one sent once', async () => {
    const outcome = await settled();
    await takeAway(outcome);
    database.fates = ['unsent'];
    await expect(bets.finish(outcome)).rejects.toEqual(UNAVAILABLE);
    expect(await bets.finish({ ...outcome })).toEqual({ kind: 'lost' });
  });

  it('is written with the others of its batch, each by what became of it', async () => {
    const outcomes = await Promise.all([settled(), settled(), settled()]);
    await takeAway(outcomes[1]);
    database.fates = ['unsent'];
    const written = await Promise.allSettled(outcomes.map((outcome) => bets.finish(outcome)));
    expect(written).toEqual([
      { status: 'fulfilled', value: { kind: 'committed' } },
      { status: 'rejected', reason: UNAVAILABLE },
      { status: 'fulfilled', value: { kind: 'committed' } },
    ]);
    expect(database.sent).toEqual(['bet-finish', 'bet-finish']);
  });
});
