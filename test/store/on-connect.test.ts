import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openLongConnection } from '../../src/store/connection.ts';
import { Database } from '../../src/store/database.ts';
import { statement } from '../../src/store/statement.ts';
import { startPostgres } from '../../tools/embedded/postgres.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { setUpDatabase } from '../support/foreign-settings.ts';
import { onServer } from '../support/server.ts';

const COMMIT = statement(
  'commit-setting',
  {},
  `SELECT current_setting('synchronous_commit') AS said`,
  (row) => row.text('said'),
);

/** What one connection of a gateway's has in force, whenever it is asked. */
function connected(url: string) {
  const database = new Database({ url, connectionsMax: 1, onIdleError: () => undefined });
  onTestFinished(() => database.close());
  return async () => (await database.run(COMMIT, {}))[0];
}

describe('a database that is told, while gateways run, not to wait for its disk', () => {
  let server: TestDatabase;
  beforeEach(async () => {
    server = await createDatabase();
  });
  afterEach(() => server.drop());

  it('is waited for on new connections all the same: what is answered is kept (I3)', async () => {
    await setUpDatabase(server.url, { synchronous_commit: 'off' });
    expect(await connected(server.url)()).toBe('on');
  });

  it('is waited for by what takes long as well, such as the books', async () => {
    await setUpDatabase(server.url, { synchronous_commit: 'off' });
    const books = await openLongConnection(server.url, 'books');
    onTestFinished(() => books.end());
    const { rows } = await books.query('SHOW synchronous_commit');
    expect(rows).toEqual([{ synchronous_commit: 'on' }]);
  });

  it.each(['on', 'local', 'remote_write', 'remote_apply'])(
    'is waited for as it was told to: %s',
    async (value) => {
      await setUpDatabase(server.url, { synchronous_commit: value });
      expect(await connected(server.url)()).toBe(value);
    },
  );
});

it('a server that is told so by a reload is waited for on the connections that are there (I3)', async () => {
  const own = await startPostgres({ fast: true });
  onTestFinished(() => own.stop());
  const said = connected(own.url);
  expect(await said()).toBe('on');
  await onServer(own.url, async (client) => {
    await client.query('ALTER SYSTEM SET synchronous_commit = off');
    await client.query('SELECT pg_reload_conf()');
  });
  const usual = () =>
    onServer(own.url, async (client) => {
      const { rows } = await client.query('SHOW synchronous_commit');
      return rows[0]?.synchronous_commit;
    });
  await expect.poll(usual).toBe('off');
  expect(await said()).toBe('on');
});
