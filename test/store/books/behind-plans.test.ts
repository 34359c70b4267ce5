import { afterAll, beforeAll, expect, it } from 'vitest';
import { BooksJournal } from '../../../src/store/books/books-journal.ts';
import { isBookedUntil } from '../../../src/store/books/closing.ts';
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
  // Every month has as many: the first one was pruned.
  await client.query(
    `INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, confirmed, written_in)
     SELECT n, 2, month, 20, 'accepted', true, '1'
       FROM generate_series(now() - interval '${MONTHS} months', now() - interval '1 month', interval '1 month') month,
            generate_series(1, 2000) n`,
  );
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

/** How many attempts are read, by index or not. */
async function attemptsRead(act: () => Promise<void>): Promise<number> {
  const read = async () => {
    await database.run(FLUSH, {});
    const { rows } = await opened.client.query<{ read: string }>(
      `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) AS read FROM pg_stat_user_tables
        WHERE relname LIKE 'attempts_%'`,
    );
    return Number(rows[0]?.read);
  };
  const before = await read();
  await act();
  return (await read()) - before;
}

it('reads the next thousand entries and not all that is unbooked, also once the books are far behind (I12)', async () => {
  // This server's own transactions have lower ids than these: they count as ended.
  await opened.client.query(
    `CREATE OR REPLACE FUNCTION journal_written_in(id XID8) RETURNS XID8
       LANGUAGE sql IMMUTABLE AS $$ SELECT '900000000000'::xid8 $$`,
  );
  const after = { writtenIn: '100020000', operationId: '20000', number: 1 };
  const read = await attemptsRead(async () => {
    const entries = await new BooksJournal(database).entries(after, 'UTC', AT_ONCE);
    expect(entries.map(({ at }) => at.operationId)).toEqual(
      Array.from({ length: AT_ONCE }, (_, at) => String(20_001 + at)),
    );
  });
  expect(read).toBeLessThan(2 * AT_ONCE);
});

it('asks whether a day is in the books without reading all that is in them (I12)', async () => {
  const { client } = opened;
  await client.query(
    `UPDATE books_cursor SET written_in = '200040000', operation_id = 40000, number = 1`,
  );
  const now = new Date(Date.now() + 60_000);
  const read = await attemptsRead(async () => {
    expect(await isBookedUntil(database, now)).toBe(true);
  });
  expect(read).toBeLessThan(100);
  await client.query(`UPDATE books_cursor SET written_in = '200039999', operation_id = 39999`);
  expect(await isBookedUntil(database, now)).toBe(false);
  expect(await isBookedUntil(database, new Date(Date.now() - 3_600_000))).toBe(true);
});
