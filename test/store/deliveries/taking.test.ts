import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BetJournal } from '../../../src/store/bets/journal.ts';
import { DeliveryHolds } from '../../../src/store/deliveries/holds.ts';
import { DeliveryStore } from '../../../src/store/deliveries/queue.ts';
import { createPrisma } from '../../../src/store/schema/prisma.ts';
import { insertBacklog } from '../../deliveries/support/backlog.ts';
import { BY } from '../../support/audit.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

let journal: TestJournal;
let store: DeliveryStore;
beforeAll(async () => {
  journal = await openTestJournal();
  store = new DeliveryStore(journal.database);
});
afterAll(() => journal.close());
beforeEach(() => journal.sql('TRUNCATE bets, operations, attempts, deliveries, operator_holds'));

/** Due rollbacks, each of its own bet: `bet-1`, `bet-2`. */
const insert = (count: number) =>
  onServer(journal.url, (client) =>
    insertBacklog(client, {
      ...journal.owner,
      sessionId: journal.sessionId,
      prefix: 'bet',
      count,
    }),
  );

const claim = () => store.take('alpha', { generation: 1, limit: 100 });

describe('taking leaves alone', () => {
  it('an operator whose deliveries a person holds, whatever a worker knows of that (I4)', async () => {
    await insert(1);
    await journal.sql(
      `INSERT INTO operator_holds (operator_id, counted_at, hold_since)
       VALUES ('alpha', clock_timestamp(), clock_timestamp())`,
    );
    expect(await claim()).toEqual({ taken: [], unreadable: [], isDry: true });
    await journal.sql('UPDATE operator_holds SET hold_since = NULL');
    expect((await claim()).taken).toHaveLength(1);
  });

  it('a bet that is busy, and does not look for more in its place (I6)', async () => {
    await insert(1);
    await journal.sql(
      `UPDATE bets SET busy_operation = 'settle', busy_attempt = gen_random_uuid(),
                       busy_until = clock_timestamp() + interval '10 s'`,
    );
    expect(await claim()).toEqual({ taken: [], unreadable: [], isDry: true });
  });

  it('what stands behind an operation that its callback still guards (I6)', async () => {
    await insert(2);
    await journal.sql(
      `UPDATE deliveries SET transaction_id = 'bet-1',
              operation = CASE transaction_id WHEN 'bet-1' THEN 'settle' ELSE 'rollback' END,
              state = CASE transaction_id WHEN 'bet-1' THEN 'live' ELSE 'pending' END`,
    );
    expect(await claim()).toEqual({ taken: [], unreadable: [], isDry: true });
  });
});

it('looks again within a minute at a bet of no known wallet, for which a newer one was released (I4)', async () => {
  await insert(1);
  await journal.sql('UPDATE bets SET generation = 0');
  await journal.sql(
    `INSERT INTO operator_holds (operator_id, counted_at, released, released_to)
     VALUES ('alpha', clock_timestamp(), 2, 2)`,
  );
  // Of a process that has not read the newer wallet's configuration yet.
  expect((await claim()).taken).toEqual([]);
  await journal.sql(`UPDATE deliveries SET next_attempt_at = next_attempt_at - interval '61 s'`);
  expect((await store.take('alpha', { generation: 2, limit: 100 })).taken).toHaveLength(1);
});

it('takes an update of which only a copy came later: nothing has overtaken it (I4)', async () => {
  await insert(1);
  await journal.sql(`UPDATE bets SET rollback = 'none'`);
  await journal.sql(`UPDATE deliveries SET operation = 'update'`);
  await journal.sql(
    `INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body, is_copy)
     VALUES ('bet-1', 'alpha', 'update', gen_random_uuid(), '{}', true)`,
  );
  expect((await claim()).taken).toMatchObject([{ operation: 'update' }]);
});

it('takes a money operation although an earlier update of its bet still waits (I6)', async () => {
  await insert(2);
  await journal.sql(
    `UPDATE deliveries SET transaction_id = 'bet-1',
            operation = CASE transaction_id WHEN 'bet-1' THEN 'update' ELSE 'settle' END,
            next_attempt_at = clock_timestamp()
              + CASE transaction_id WHEN 'bet-1' THEN interval '1 hour' ELSE interval '0' END`,
  );
  await journal.sql(`UPDATE bets SET rollback = 'none', rollback_time = NULL`);
  expect((await claim()).taken).toMatchObject([{ operation: 'settle', transactionId: 'bet-1' }]);
});

it('gives the bet to the attempt for as long as its lease: nobody else calls it unknown (I6)', async () => {
  await insert(1);
  const { taken } = await claim();
  const bets = new BetJournal(journal.database, journal.clock);
  const [{ attemptId = '' } = {}] = taken;
  const busy = { operation: 'rollback', attemptId, lapsed: false };
  expect(await bets.find('bet-1')).toMatchObject({ busy });
  expect(await bets.recoverLapsed(10)).toEqual([]);
});

it('tells places whose caller was answered 100, until they are rolled back (I5)', async () => {
  await insert(4);
  await journal.sql(
    `UPDATE bets SET created_at = clock_timestamp() - interval '1 h', rollback = 'none',
                     rollback_time = NULL`,
  );
  await journal.sql(`UPDATE operations SET operation = 'place'`);
  const change = (bet: string, what: string) =>
    journal.sql(`UPDATE bets SET ${what} WHERE transaction_id = 'bet-${bet}'`);
  await change('1', `place = 'unknown'`);
  await change('2', 'place_answered_unknown = true');
  await change('3', `place = 'unknown', rollback = 'promised', rollback_time = ''`);
  const overdue = async (afterMs: number) =>
    (await store.overdueUnknown(new Map([['alpha', afterMs]]), 10))
      .map(({ transactionId }) => transactionId)
      .sort();
  expect(await overdue(60_000)).toEqual(['bet-1', 'bet-2']);
  expect(await overdue(7_200_000)).toEqual([]);
});

describe('the time that an operator was held', () => {
  const heldMs = () =>
    onServer(journal.url, async (client) => {
      const { rows } = await client.query<{ ms: number }>(
        `SELECT held_ms::float8 AS ms FROM operator_holds WHERE operator_id = 'alpha'`,
      );
      return rows[0]?.ms;
    });
  const counted = (ago: string, holdSince: string) =>
    journal.sql(
      `INSERT INTO operator_holds (operator_id, counted_at, hold_since, hold_actor)
       VALUES ('alpha', clock_timestamp() - interval '${ago}', ${holdSince}, 'ann')`,
    );
  const HALF_AN_HOUR_AGO = `clock_timestamp() - interval '30 min'`;

  it('is at most ten seconds of a time in which nobody counted', async () => {
    await counted('1 h', 'NULL');
    await store.countHeld(['alpha']);
    expect(await heldMs()).toBe(10_000);
  });

  it('is all of it by a person’s word, also while no process ran (I4)', async () => {
    await counted('1 h', HALF_AN_HOUR_AGO);
    await store.countHeld(['alpha']);
    expect(Math.round(((await heldMs()) ?? 0) / 60_000)).toBe(30);
  });

  it('counts to the moment in which the person lets go (I4)', async () => {
    await counted('1 h', HALF_AN_HOUR_AGO);
    const prisma = createPrisma(journal.url);
    expect(await new DeliveryHolds(prisma).resume('alpha', BY)).toBe(true);
    await prisma.$disconnect();
    expect(Math.round(((await heldMs()) ?? 0) / 60_000)).toBe(30);
  });
});
