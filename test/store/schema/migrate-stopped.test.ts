import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { connect, rowsOf } from '../../support/server.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

it('says for whom it waits, and how to end that: a process that is stopped would keep it waiting for ever', async () => {
  const stopped = await connect(database.url);
  stopped.on('error', () => undefined);
  await stopped.query(`SET application_name = 'wagergate-migrate'`);
  await stopped.query('SELECT pg_advisory_lock(72707369)');
  const said: string[] = [];
  const migrating = migrate(database.url, { log: (line) => said.push(line) });
  await expect.poll(() => said.length, { timeout: 10_000 }).toBe(2);
  expect(said[0]).toBe('another process is applying migrations: waiting for it');
  expect(said[1]).toMatch(
    /^it has PostgreSQL's session \d+ \(.*wagergate-migrate, at [\d.:a-f]+, idle since \d{4}-\S+Z\); if it has been stopped/,
  );
  const [end = ''] = /SELECT pg_terminate_backend\(\d+\)/.exec(said[1] ?? '') ?? [];
  await rowsOf(database.url, end);
  expect(await migrating).toEqual({ applied: [] });
});
