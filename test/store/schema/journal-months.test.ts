import { afterAll, beforeAll, expect, it } from 'vitest';
import { JournalMonths } from '../../../src/store/schema/journal-months.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

/** A database that was migrated long ago: none of the months to come has a table. */
let journal: TestJournal;
let months: JournalMonths;
beforeAll(async () => {
  journal = await openTestJournal();
  months = new JournalMonths(journal.database, createLogger('silent'));
});
afterAll(() => journal.close());

const partitionsOf = async (table: string) => {
  const found = await rows<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
      WHERE inhparent = '${table}'::regclass ORDER BY 1`,
  );
  return found.map(({ name }) => name);
};
async function rows<Row extends object>(text: string): Promise<Row[]> {
  return await onServer(journal.url, async (client) => (await client.query(text)).rows);
}
const monthFromNow = (months: number): string => {
  const now = new Date();
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1));
  return month.toISOString().slice(0, 7).replace('-', '_');
};

it('a migrated database has tables for this month and the two after it', async () => {
  for (const table of ['operations', 'attempts']) {
    const expected = [0, 1, 2].map((n) => `${table}_${monthFromNow(n)}`);
    expect(await partitionsOf(table)).toEqual([...expected, `${table}_rest`]);
  }
});

it('what came before its month had a table is kept, and moves into it (I4)', async () => {
  await journal.sql(`DROP TABLE operations_${monthFromNow(0)}, attempts_${monthFromNow(0)}`);
  await journal.sql(
    `INSERT INTO operations (transaction_id, operation, attempt_id, body)
     VALUES ('early', 'place', gen_random_uuid(), '{}')`,
  );
  expect(await rows('SELECT transaction_id FROM operations_rest')).toHaveLength(1);

  // However many replicas do it at once.
  const made = await Promise.all([months.prepare(), months.prepare(), months.prepare()]);
  expect(made.toSorted()).toEqual([0, 0, 2]);
  expect(await rows('SELECT transaction_id FROM operations_rest')).toEqual([]);
  expect(await rows(`SELECT transaction_id FROM operations_${monthFromNow(0)}`)).toEqual([
    { transaction_id: 'early' },
  ]);
  expect(await months.prepare()).toBe(0);
});
