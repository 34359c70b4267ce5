import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHECK_BETS } from '../../../src/store/books/checks.ts';
import { READ_ENTRIES } from '../../../src/store/books/read-statements.ts';
import { Database } from '../../../src/store/database.ts';
import { statement, type TypedStatement } from '../../../src/store/sql/statement.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';

/** So many that a request for a thousand of them may be a reason to read them all. */
const BETS = 20_000;

let database: OpenDatabase;
/** As a worker's: one connection for months. */
let each: Database;
beforeAll(async () => {
  database = await openDatabase();
  const { client, url } = database;
  each = new Database({ url, connectionsMax: 1, onIdleError: () => undefined });
  // A worker begins with empty tables, and what it looks at then is the first plan that it has.
  await each.run(CHECK_BETS, {});
  await client.query(
    `INSERT INTO bets (transaction_id, operator_id, player_id, amount, currency, generation, place)
     SELECT 'bet-' || n, 'alpha', 1, '1', 'USD', 1, 'accepted' FROM generate_series(1, ${BETS}) n`,
  );
  await client.query(
    `WITH op AS (
       INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body)
       SELECT transaction_id, 'alpha', 'place', gen_random_uuid(), '{}' FROM bets RETURNING id
     )
     INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, confirmed)
     SELECT id, 1, now(), 20, 'accepted', true FROM op`,
  );
  await client.query(
    `INSERT INTO books_movements (transaction_id, sequence, operator_id, player_id, currency, kind,
            amount, is_freebet, opens, open_stake, operation, operation_id, number, written_in,
            confirmed_at, belongs_to, day)
     SELECT transaction_id, 1, 'alpha', 1, 'USD', 'stake', -1, false, 1, 1, 'place', 1, 1, '1', now(),
            now(), now() FROM bets`,
  );
  // Not analysed: a young journal is not either, until PostgreSQL gets round to it.
});
afterAll(async () => {
  await each.close();
  await database.drop();
});

async function planOf<Input>(statement: TypedStatement<Input, unknown>, input: Input) {
  const values = [...statement.values(input)];
  const { rows } = await database.client.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN ${statement.text}`,
    values,
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

it('looks a thousand entries up one by one, however small the tables still are', async () => {
  const after = { writtenIn: '1', operationId: '0', number: 0 };
  const plan = await planOf(READ_ENTRIES, { ...after, timeZone: 'UTC', limit: 1_000 });
  expect(plan).toMatch(/Index (Only )?Scan using bets_pkey on bets/);
  expect(plan).not.toMatch(/Seq Scan on .* rows=\d{4}/);
});

it('checks two thousand movements by the keys of their bets', async () => {
  const plan = await planOf(CHECK_BETS, {});
  // Of either kind: PostgreSQL may have analysed the tables by now, all the same.
  expect(plan).toMatch(/Index Scan (using|on) bets_pkey/);
  expect(plan).toMatch(/Index Scan (using|on) books_movements_pkey/);
  expect(plan).not.toMatch(/Seq Scan on (bets|books_movements)/);
});

const FLUSH = statement('flush', {}, 'SELECT pg_stat_force_next_flush()', () => undefined);

it('makes that plan anew each time, although the statement has no values and its tables were empty at first', async () => {
  const readMovements = async () => {
    await each.run(FLUSH, {});
    const { rows } = await database.client.query<{ read: string }>(
      `SELECT seq_tup_read AS read FROM pg_stat_user_tables WHERE relname = 'books_movements'`,
    );
    return Number(rows[0]?.read);
  };
  const before = await readMovements();
  expect(await each.run(CHECK_BETS, {})).toEqual([{ lookedAt: 2_000, wrong: 0 }]);
  expect((await readMovements()) - before).toBe(0);
});
