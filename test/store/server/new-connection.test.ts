import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { databaseId } from '../../../src/store/schema/database-id.ts';
import { ServerRuns } from '../../../src/store/server/server-runs.ts';
import { noRow, statement } from '../../../src/store/sql/statement.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { RoundTrips } from '../../support/round-trips.ts';

const NOTHING = statement('test-nothing', {}, 'SELECT', noRow);

const trips = new RoundTrips([]);
let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  await trips.close();
  await database.drop();
});

it('a new connection costs its first statement one round trip besides those of signing in, however much is checked', async () => {
  const url = await trips.through('PostgreSQL', database.url);
  const id = await databaseId(database.url);
  const found: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    const known = { databaseId: id, runs: new ServerRuns(), onUnsuitable: vi.fn() };
    const onIdleError = () => undefined;
    const pool = new Database({ url, connectionsMax: 1, known, onIdleError });
    found.push((await trips.of(() => pool.run(NOTHING, {}))).length);
    await pool.close();
  }
  // Its greeting, and two for the password (SCRAM); the checks; the statement.
  expect(Math.min(...found)).toBe(5);
});
