import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlaceState } from '../../../src/domain/bet.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import type { AttemptRecord } from '../../../src/store/bets/attempt-record.ts';
import { BetJournal } from '../../../src/store/bets/journal.ts';
import type { PlaceIntent } from '../../../src/store/bets/place.ts';
import { PlaceJournal } from '../../../src/store/bets/place-journal.ts';
import { Database } from '../../../src/store/database.ts';
import type { SqlValue } from '../../../src/store/sql/sql-value.ts';
import type { Statement } from '../../../src/store/sql/statement.ts';
import { ampleDeadline, openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

/** Loses the server's answer to one statement: the commit happened, but nobody learns of it. */
class ForgetfulDatabase extends Database {
  forgets: string | undefined;
  /** How many outcomes of places do not even arrive. */
  unsent = 0;

  protected override async query(statement: Statement, values: readonly SqlValue[]) {
    if (this.unsent > 0 && statement.name === 'place-finish') {
      this.unsent -= 1;
      throw new GatewayError('DATABASE_UNAVAILABLE', 'away');
    }
    const rows = await super.query(statement, values);
    if (statement.name !== this.forgets) return rows;
    this.forgets = undefined;
    throw new GatewayError('DATABASE_UNAVAILABLE', 'connection lost');
  }
}

const ACCEPTED: PlaceState = { kind: 'accepted', transactionTime: '2021-03-05T11:08:00.000Z' };
const ATTEMPT: AttemptRecord = {
  startedAtMs: 1_614_942_480_000,
  result: 'accepted',
  trace: { sent: true, latencyMs: 12.4, status: 200 },
  error: undefined,
  answer: { status: 200, body: '{}' },
};

const LATE = { status: 400, body: '{"code":100}' };
const STANDS = { kind: 'committed' };
const LOST = { kind: 'lost' };

let journal: TestJournal;
let database: ForgetfulDatabase;
let places: PlaceJournal;
beforeAll(async () => {
  journal = await openTestJournal((url) => {
    database = new ForgetfulDatabase({
      url,
      connectionsMax: 8,
      plans: 'kept',
      onIdleError: () => undefined,
    });
    return database;
  });
  places = new PlaceJournal(journal.database, journal.clock);
});
afterAll(() => journal.close());

function intentOf(changes: Partial<PlaceIntent> = {}): PlaceIntent {
  return {
    transactionId: randomUUID(),
    attemptId: randomUUID(),
    operatorId: journal.owner.operatorId,
    playerId: journal.owner.playerId,
    sessionId: journal.sessionId,
    tokenHash: journal.tokenHash,
    amount: '12.10',
    currency: 'USD',
    generation: 1,
    requestId: 'request-1',
    body: Buffer.from('{"amount":12.10}'),
    notSent: undefined,
    ...changes,
  };
}

const begin = (intent: PlaceIntent) => places.begin(intent, ampleDeadline(), () => true);

async function begun(intent: PlaceIntent): Promise<string> {
  const result = await begin(intent);
  if (result.kind !== 'begun') throw new Error(`the intent is ${result.kind}`);
  return result.operationId;
}

const finish = (
  { transactionId, attemptId }: PlaceIntent,
  operationId: string,
  place: PlaceState = ACCEPTED,
) =>
  places.finish(
    { transactionId, attemptId, operationId, place, attempt: ATTEMPT, lateAnswer: LATE },
    ampleDeadline(),
  );

describe('an intent', () => {
  it('is committed when it has begun, byte for byte (I3)', async () => {
    const bodies = [Buffer.from('{"a":"\u0000é😀"}'), Buffer.of(0, 255, 254), Buffer.alloc(0)];
    const intents = bodies.map((body) => intentOf({ body }));
    await Promise.all(intents.map(begun));
    const { transactionId } = intents[0] ?? intentOf();
    expect(await journal.state(transactionId)).toMatchObject({ place: 'in_flight', busy: 'place' });
    const stored = await onServer(journal.url, (client) =>
      client.query<{ body: Buffer }>(
        `SELECT body FROM operations JOIN unnest($1::uuid[]) WITH ORDINALITY AS of (attempt_id, n)
          USING (attempt_id) ORDER BY n`,
        [intents.map(({ attemptId }) => attemptId)],
      ),
    );
    expect(stored.rows.map(({ body }) => body)).toEqual(bodies);
  });

  it('begins once of many, in one batch or in several (I5, I6)', async () => {
    const { transactionId } = intentOf();
    const other = new PlaceJournal(journal.database, journal.clock);
    const twins = Array.from({ length: 10 }, () => intentOf({ transactionId }));
    const results = await Promise.all(
      twins.map((twin, index) =>
        (index % 2 === 0 ? places : other).begin(twin, ampleDeadline(), () => true),
      ),
    );
    const kinds = results.map(({ kind }) => kind).sort();
    expect(kinds).toEqual(['begun', ...Array.from({ length: 9 }, () => 'known')]);
    expect(await journal.state(transactionId)).toMatchObject({ operations: ['place'] });
  });

  it('is known where any row of its transactionId is there, such as a tombstone (I6)', async () => {
    const { transactionId } = intentOf();
    await journal.sql(
      `INSERT INTO bets (transaction_id, generation, place, rollback, rollback_time)
       VALUES ($1, 1, 'unseen', 'confirmed', '2021-03-05T11:08:00Z')`,
      [transactionId],
    );
    expect(await begin(intentOf({ transactionId }))).toEqual({ kind: 'known' });
  });

  it.each([
    ['was revoked', `ended_at = now(), ended_reason = 'revoked'`],
    // Stored in whole milliseconds, which may round it up.
    ['expired', `expires_at = clock_timestamp() - interval '1 ms'`],
  ])('is not written when its session %s just before', async (_, end) => {
    const session = await journal.openSession();
    await journal.sql(`UPDATE sessions SET ${end} WHERE id = $1`, [session.sessionId]);
    const intent = intentOf(session);
    expect(await begin(intent)).toEqual({ kind: 'sessionOver' });
    expect(await journal.state(intent.transactionId)).toBeUndefined();
  });

  it.each([
    ['session', { tokenHash: Buffer.from('of the lost one') }],
    ['player', { playerId: '4711' }],
  ])('is not written where a failover has given its id to another %s (I8)', async (_, lost) => {
    const intent = intentOf(lost);
    expect(await begin(intent)).toEqual({ kind: 'sessionOver' });
    expect(await journal.state(intent.transactionId)).toBeUndefined();
  });

  it('that will not be sent is final at once', async () => {
    const intent = intentOf({ notSent: { status: 400, body: '{"code":100}' } });
    await begun(intent);
    expect(await journal.state(intent.transactionId)).toMatchObject({
      place: 'not_sent',
      busy: null,
    });
  });

  it('is not written once its caller gave up', async () => {
    const intent = intentOf();
    await expect(places.begin(intent, ampleDeadline(), () => false)).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
    });
    expect(await journal.state(intent.transactionId)).toBeUndefined();
  });

  it('is not written once its caller has been answered, by PostgreSQL’s clock (I11)', async () => {
    const intent = intentOf();
    const past = new Deadline(systemClock, systemClock.monotonicMs() - 10_000, 9_000, 0);
    expect(await places.begin(intent, past, () => true)).toEqual({ kind: 'tooLate' });
    expect(await journal.state(intent.transactionId)).toBeUndefined();
  });

  it('is recognised as our own when its commit was not reported (I3)', async () => {
    const intent = intentOf();
    database.forgets = 'place-begin';
    const operationId = await begun(intent);
    expect(await finish(intent, operationId)).toEqual(STANDS);
    expect(await journal.state(intent.transactionId)).toMatchObject({ operations: ['place'] });
  });

  it('of another that PostgreSQL cannot store fails alone', async () => {
    const results = await Promise.allSettled(
      ['good-1', 'b\0d', 'good-2'].map((amount) => begin(intentOf({ amount }))),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('an outcome', () => {
  it('stands, frees the bet and keeps the attempt', async () => {
    const intent = intentOf();
    expect(await finish(intent, await begun(intent))).toEqual(STANDS);
    expect(await journal.state(intent.transactionId)).toMatchObject({
      place: 'accepted',
      busy: null,
      attempts: ['accepted'],
    });
  });

  it('is recognised as our own when its commit was not reported (I3)', async () => {
    const intent = intentOf();
    const operationId = await begun(intent);
    database.forgets = 'place-finish';
    expect(await finish(intent, operationId)).toEqual(STANDS);
    expect(await journal.state(intent.transactionId)).toMatchObject({ attempts: ['accepted'] });
  });

  it('that could not be written is written as told otherwise when PostgreSQL is back (I3)', async () => {
    const intent = intentOf();
    const { transactionId } = intent;
    const operationId = await begun(intent);
    database.unsent = 7;
    await expect(finish(intent, operationId)).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
    });
    expect(await journal.state(transactionId)).toMatchObject({ place: 'in_flight' });
    await expect
      .poll(() => journal.state(transactionId), { timeout: 10_000 })
      .toMatchObject({ place: 'accepted', busy: null, attempts: ['accepted'] });
    const bets = new BetJournal(journal.database, journal.clock);
    expect(await bets.find(transactionId)).toMatchObject({ placeAnsweredUnknown: true });
    expect((await bets.answerOf(intent))?.answer).toEqual(LATE);
  });

  it('of an attempt whose lease ended changes nothing but is kept to be seen (I3)', async () => {
    const intent = intentOf();
    const operationId = await begun(intent);
    await journal.sql('UPDATE bets SET busy_until = clock_timestamp() WHERE transaction_id = $1', [
      intent.transactionId,
    ]);
    await new BetJournal(journal.database, journal.clock).recover(
      intent.transactionId,
      intent.attemptId,
    );
    expect(await finish(intent, operationId)).toEqual(LOST);
    expect(await journal.state(intent.transactionId)).toMatchObject({
      place: 'unknown',
      attempts: ['accepted'],
    });
    // The books do not count it either (I12).
    const confirmed = await onServer(journal.url, async (client) => {
      const text = 'SELECT confirmed FROM attempts WHERE operation_id = $1';
      return (await client.query(text, [operationId])).rows;
    });
    expect(confirmed).toEqual([{ confirmed: false }]);
  });

  it('of another process’s attempt is not accepted (I6)', async () => {
    const intent = intentOf();
    const operationId = await begun(intent);
    expect(await finish({ ...intent, attemptId: randomUUID() }, operationId)).toEqual(LOST);
    expect(await journal.state(intent.transactionId)).toMatchObject({ place: 'in_flight' });
  });

  it('is the first of two (I3)', async () => {
    const intent = intentOf();
    const operationId = await begun(intent);
    await finish(intent, operationId, { kind: 'unknown' });
    expect(await finish(intent, operationId, ACCEPTED)).toEqual(LOST);
    expect(await journal.state(intent.transactionId)).toMatchObject({ place: 'unknown' });
  });

  it('with a message that PostgreSQL cannot store is written nevertheless', async () => {
    const intent = intentOf();
    const message = `no\0t \ud800 enough ${'x'.repeat(5_000)}`;
    const place: PlaceState = { kind: 'declined', code: 7, message };
    expect(await finish(intent, await begun(intent), place)).toEqual(STANDS);
    expect(await journal.state(intent.transactionId)).toMatchObject({ place: 'declined' });
  });
});
