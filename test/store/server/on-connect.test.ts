import { afterEach, beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { databaseId } from '../../../src/store/schema/database-id.ts';
import { openLongConnection } from '../../../src/store/server/connection.ts';
import { ServerRuns } from '../../../src/store/server/server-runs.ts';
import { statement } from '../../../src/store/sql/statement.ts';
import { startPostgres } from '../../../tools/embedded/postgres.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { setUpDatabase } from '../../support/foreign-settings.ts';
import { onServer } from '../../support/server.ts';

const COMMIT = statement(
  'commit-setting',
  {},
  `SELECT current_setting('synchronous_commit') AS said`,
  (row) => row.text('said'),
);

/** The settings of one of a gateway's connections. */
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

  it('is waited for on new connections nevertheless: what was answered is kept (I3)', async () => {
    await setUpDatabase(server.url, { synchronous_commit: 'off' });
    expect(await connected(server.url)()).toBe('on');
  });

  it('is waited for by long-running work as well, such as the books', async () => {
    await setUpDatabase(server.url, { synchronous_commit: 'off' });
    const books = await openLongConnection({ url: server.url }, 'books');
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

it('what takes long, such as closing a day, does not begin on another database than the known one', async () => {
  const server = await createDatabase();
  onTestFinished(() => server.drop());
  const onUnsuitable = vi.fn();
  const connection = async (id: string) => {
    const client = await openLongConnection(
      {
        url: server.url,
        known: { databaseId: id, runs: new ServerRuns(), onUnsuitable },
      },
      'books',
    );
    await client.end();
  };
  await connection(await databaseId(server.url));
  await expect(connection('0123456789abcdef')).rejects.toThrow('is another database than');
  expect(onUnsuitable).toHaveBeenCalledTimes(1);
});

it.each([
  ['lose', 'GRANT', 'REVOKE'],
  ['get', 'REVOKE', 'GRANT'],
])(
  'a role may %s the right to ask which server it is: the database stays the known one',
  async (_, before, after) => {
    const server = await createDatabase();
    const role = `nosy_${new URL(server.url).pathname.slice(1)}`;
    const url = new URL(server.url);
    [url.username, url.password] = [role, 'secret'];
    const may = (word: string) =>
      onServer(server.url, (client) =>
        client.query(
          `${word} EXECUTE ON FUNCTION pg_control_system() ${word === 'GRANT' ? 'TO' : 'FROM'} ${role}`,
        ),
      );
    await onServer(server.url, (client) =>
      client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret';
      GRANT SELECT ON "_prisma_migrations" TO ${role};
      REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`),
    );
    onTestFinished(async () => {
      await onServer(server.url, (client) => client.query(`DROP OWNED BY ${role}`));
      await server.drop();
      await onServer(inject('postgresUrl'), (client) => client.query(`DROP ROLE ${role}`));
    });
    await may(before);
    const known = {
      databaseId: await databaseId(url.href),
      runs: new ServerRuns(),

      onUnsuitable: vi.fn(),
    };
    await may(after);
    const client = await openLongConnection({ url: url.href, known }, 'books');
    await client.end();
  },
);

it('a role that may no longer read which migrations there were is not refused for that', async () => {
  const server = await createDatabase();
  const role = `nosy_${new URL(server.url).pathname.slice(1)}`;
  const url = new URL(server.url);
  [url.username, url.password] = [role, 'secret'];
  await onServer(server.url, (client) =>
    client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`),
  );
  onTestFinished(async () => {
    await server.drop();
    await onServer(inject('postgresUrl'), (client) => client.query(`DROP ROLE ${role}`));
  });
  const known = {
    databaseId: await databaseId(server.url),
    runs: new ServerRuns(),

    onUnsuitable: vi.fn(),
  };
  const client = await openLongConnection({ url: url.href, known }, 'books');
  await client.end();
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
