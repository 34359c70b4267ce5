import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { JournalMonths } from '../../../src/store/schema/journal-months.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';
import { PATIENT_MS } from '../../support/timing.ts';

/** A database that was migrated long ago: none of the coming months has a table. */
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

it('a month whose table takes too long keeps no other from its own', async () => {
  for (const n of [1, 2]) {
    await journal.sql(`DROP TABLE operations_${monthFromNow(n)}, attempts_${monthFromNow(n)}`);
  }
  const early = `date_trunc('month', now() AT TIME ZONE 'UTC') + interval '1 month 1 day'`;
  await journal.sql(
    `INSERT INTO operations (transaction_id, operation, attempt_id, body, created_at)
     VALUES ('next month', 'place', gen_random_uuid(), '{}', ${early})`,
  );
  await journal.sql(
    `CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN PERFORM pg_sleep(20); RETURN OLD; END $$`,
  );
  await journal.sql(
    'CREATE TRIGGER slowly BEFORE DELETE ON operations_rest FOR EACH ROW EXECUTE FUNCTION slowly()',
  );
  const database = new Database({
    ...{ url: journal.url, connectionsMax: 1, statementTimeoutMs: 200 },
    onIdleError: () => undefined,
  });
  onTestFinished(() => database.close());
  const impatient = new JournalMonths(database, createLogger('silent'));
  await expect(impatient.prepare()).rejects.toThrow('statement timeout');
  expect(await partitionsOf('operations')).toContain(`operations_${monthFromNow(2)}`);
  expect(await partitionsOf('operations')).not.toContain(`operations_${monthFromNow(1)}`);
  await journal.sql('DROP TRIGGER slowly ON operations_rest');
  expect(await impatient.prepare()).toBe(2);
});

it('a month that a lock kept from being made is made some seconds later, not an hour', async () => {
  await journal.sql(`DROP TABLE operations_${monthFromNow(0)}, attempts_${monthFromNow(0)}`);
  const database = new Database({
    url: journal.url,
    connectionsMax: 1,
    onIdleError: () => undefined,
    statementTimeoutMs: 300,
  });
  const warn = vi.fn();
  const patient = new JournalMonths(database, { ...createLogger('silent'), warn });
  await onServer(journal.url, async (client) => {
    // As the reader of the books does, which waits for the other table next.
    await client.query('BEGIN; LOCK TABLE attempts_rest IN ACCESS SHARE MODE');
    patient.start();
    await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce(), PATIENT_MS);
    await client.query('COMMIT');
  });
  await expect
    .poll(() => partitionsOf('attempts'), { timeout: PATIENT_MS })
    .toContain(`attempts_${monthFromNow(0)}`);
  await patient.close();
  await database.close();
});
