import { afterAll, beforeAll, expect, it } from 'vitest';
import { prune } from '../../../src/store/prune/prune.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

/** Later bets, with an operation and an attempt each; enough that a plan that reads them all shows. */
const KEPT = 40_000;

let journal: TestJournal;
beforeAll(async () => {
  journal = await openTestJournal();
  await journal.sql(`UPDATE books_cursor SET written_in = '9000000000000000000'`);
  await journal.sql(`SELECT journal_prepare_month(month) FROM generate_series(
    '2026-01-10'::timestamptz, '2026-03-10', interval '1 month') month`);
  await fill('old', 60, '2026-01-15', 'settled');
  await fill('outright', 5, '2026-01-15', 'none');
  await fill('kept', KEPT, '2026-03-15', 'settled');
  await fill('waiting', 2_000, '2026-03-15', 'none');
  await journal.sql('ANALYZE');
}, 60_000);
afterAll(() => journal.close());

async function fill(name: string, count: number, at: string, settlement: string): Promise<void> {
  await journal.sql(
    `WITH bet AS (
       INSERT INTO bets (transaction_id, operator_id, generation, place, settlement, created_at)
       SELECT '${name}-' || n, 'alpha', 1, 'accepted', '${settlement}', '${at}'
         FROM generate_series(1, ${count}) n RETURNING transaction_id
     ), operation AS (
       INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body, created_at)
       SELECT transaction_id, 'alpha', 'place', gen_random_uuid(), '{}', '${at}' FROM bet
       RETURNING id)
     INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, confirmed)
     SELECT id, 1, '${at}', 1, 'accepted', true FROM operation`,
  );
}

it('reads of bets, and of the months that stay, no more than goes, however many there are', async () => {
  const reading = (text: string) => onServer(journal.url, (client) => client.query(text));
  // What filled the tables is counted a second later, unless this is called.
  await reading('SELECT pg_stat_force_next_flush()');
  await reading('SELECT pg_stat_reset()');
  const { months, bets } = await prune(journal.url, {
    before: new Date('2026-03-01T00:00:00Z'),
    isDryRun: false,
    log: () => undefined,
  });
  expect(months).toMatchObject([{ month: '2026-01', carriedOver: 5 }, { month: '2026-02' }]);
  expect(bets).toBe(60);
  const { rows } = await reading(
    `SELECT relname AS table, seq_tup_read::int AS scanned, coalesce(idx_tup_fetch, 0)::int AS fetched
       FROM pg_stat_user_tables
      WHERE relname IN ('bets', 'operations_2026_03', 'attempts_2026_03') ORDER BY 1`,
  );
  expect(rows.map(({ table }) => table)).toEqual([
    'attempts_2026_03',
    'bets',
    'operations_2026_03',
  ]);
  for (const { table, scanned, fetched } of rows) {
    expect(scanned + fetched, table).toBeLessThan(2_000);
  }
});
