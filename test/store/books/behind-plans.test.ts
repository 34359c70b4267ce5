import { afterAll, beforeAll, expect, it } from 'vitest';
import { BooksJournal } from '../../../src/store/books/books-journal.ts';
import { Database } from '../../../src/store/database.ts';
import { statement } from '../../../src/store/sql/statement.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';

const MONTHS = 36;
const UNBOOKED = 20_000;
const AT_ONCE = 1_000;

const FLUSH = statement('flush', {}, 'SELECT pg_stat_force_next_flush()', () => undefined);

let opened: OpenDatabase;
let database: Database;
beforeAll(async () => {
  opened = await openDatabase();
  const { client, url } = opened;
  database = new Database({ url, connectionsMax: 1, onIdleError: () => undefined });
  await client.query(
    `SELECT sum(journal_prepare_month(month))
       FROM generate_series(now() - interval '${MONTHS} months', now(), interval '1 month') month`,
  );
  const current = `to_char(now() AT TIME ZONE 'UTC', '"attempts_"YYYY_MM')`;
  const { rows } = await client.query<{ name: string }>(`SELECT ${current} AS name`);
  await client.query(`ALTER TABLE ${rows[0]?.name} SET (autovacuum_enabled = false)`);
  await insertAttempts(1, 20_000, '100');
  await client.query('ANALYZE attempts');
  // No worker has run since, and PostgreSQL analyses a month once a tenth of it is new.
  await insertAttempts(20_001, UNBOOKED, '200');
});
afterAll(async () => {
  await database.close();
  await opened.drop();
});

/** Each written by a transaction of its own, from that id on. */
async function insertAttempts(from: number, count: number, writtenIn: string) {
  await opened.client.query(
    `INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, confirmed, written_in)
     SELECT n, 1, now(), 20, 'accepted', true, ((${writtenIn} * 1000000 + n)::text)::xid8
       FROM generate_series(${from}::int, ${from + count - 1}) n`,
  );
}

/** How many entries of the journal's indexes for the books are read. */
async function entriesRead(): Promise<number> {
  await database.run(FLUSH, {});
  const { rows } = await opened.client.query<{ read: string }>(
    `SELECT sum(idx_tup_read) AS read FROM pg_stat_user_indexes
      WHERE relname LIKE 'attempts_%' AND indexrelname LIKE '%written_in%'`,
  );
  return Number(rows[0]?.read);
}

it('reads the next thousand entries and not all that is unbooked, also once the books are far behind (I12)', async () => {
  // This server's own transactions have lower ids than these: they count as ended.
  await opened.client.query(
    `CREATE OR REPLACE FUNCTION journal_written_in(id XID8) RETURNS XID8
       LANGUAGE sql IMMUTABLE AS $$ SELECT '900000000000'::xid8 $$`,
  );
  const before = await entriesRead();
  const after = { writtenIn: '100020000', operationId: '20000', number: 1 };
  const entries = await new BooksJournal(database).entries(after, 'UTC', AT_ONCE);
  expect(entries.map(({ at }) => at.operationId)).toEqual(
    Array.from({ length: AT_ONCE }, (_, at) => String(20_001 + at)),
  );
  expect((await entriesRead()) - before).toBeLessThan(2 * AT_ONCE);
});
