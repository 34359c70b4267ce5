import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeDueDays } from '../../src/books/close-days.ts';
import { Database } from '../../src/store/database.ts';
import { openBooks } from './support/booked-day.ts';
import { AT_ONCE } from './support/closed-days.ts';

const DAY_MS = 86_400_000;

let books: Awaited<ReturnType<typeof openBooks>>;
let database: Database;
beforeEach(async () => {
  books = await openBooks();
  await books.book('alpha', 2);
  // Found before PostgreSQL's own function; connections that are open already keep to that.
  await books.query(`
    CREATE SCHEMA ahead;
    CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql
      AS $$ SELECT pg_catalog.clock_timestamp() + interval '400 days' $$;
    DO $$ BEGIN
      EXECUTE format('ALTER DATABASE %I SET search_path = ahead, pg_catalog, public', current_database());
    END $$`);
  database = new Database({ url: books.url, connectionsMax: 2, onIdleError: () => undefined });
});
afterEach(async () => {
  await database.close();
  await books.close();
});

const close = (aheadMs: number) =>
  closeDueDays(database, { url: books.url }, AT_ONCE, { nowMs: () => Date.now() + aheadMs });

it('a clock of PostgreSQL that has run ahead closes no day: no statement could be taken back (I12)', async () => {
  expect(await close(0)).toEqual({ closed: [], overdue: 0, failed: [] });
  // One that is due by both clocks is closed.
  const day = { operatorId: 'alpha', day: books.day };
  expect(await close(2 * DAY_MS)).toMatchObject({ closed: [day], overdue: 0 });
});

it('a clock of a process that has run ahead closes none either (I12)', async () => {
  await books.query('DROP FUNCTION ahead.clock_timestamp()');
  expect(await close(400 * DAY_MS)).toEqual({ closed: [], overdue: 0, failed: [] });
});
