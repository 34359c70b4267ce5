import { expect, it, onTestFinished } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { databaseId } from '../../../src/store/schema/database-id.ts';
import {
  checkAgain,
  connectionChecks,
  type KnownDatabase,
} from '../../../src/store/server/on-connect.ts';
import { ServerRuns } from '../../../src/store/server/server-runs.ts';
import { statement } from '../../../src/store/sql/statement.ts';
import { createDatabase } from '../../support/database.ts';
import { connect } from '../../support/server.ts';
import { startSharedSession } from '../../support/shared-session.ts';

const counted = (name: string) =>
  statement(name, {}, 'SELECT count(*)::int AS bets FROM bets', (row) => row.int('bets'));

it('connections that a pooler leads elsewhere are not used any more, and are again once it leads back (I3)', async () => {
  const server = await createDatabase();
  onTestFinished(() => server.drop());
  const pooler = await startSharedSession(server.url);
  onTestFinished(() => pooler.close());
  const dba = await connect(pooler.url);
  onTestFinished(() => dba.end());
  await dba.query('CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.bets (id INT)');
  const known: KnownDatabase = {
    databaseId: await databaseId(server.url),
    runs: new ServerRuns(),
    onServer: () => undefined,
    onUnsuitable: () => undefined,
  };
  const open = () => {
    const { url } = pooler;
    const database = new Database({ url, connectionsMax: 1, known, onIdleError: () => undefined });
    onTestFinished(() => database.close());
    return database;
  };
  const first = open();
  expect(await first.run(counted('before'), {})).toEqual([0]);
  await dba.query('SET search_path = elsewhere');
  const unavailable = { code: 'DATABASE_UNAVAILABLE' };
  // As the process does every ten seconds.
  await expect(open().run(counted('elsewhere'), {})).rejects.toMatchObject(unavailable);
  await expect(first.run(counted('before'), {})).rejects.toMatchObject(unavailable);
  await dba.query('RESET search_path');
  expect(await first.run(counted('after'), {})).toEqual([0]);
});

it('connections that still lead to the database are used although new ones lead elsewhere', async () => {
  const server = await createDatabase();
  onTestFinished(() => server.drop());
  const runs = new ServerRuns();
  const known: KnownDatabase = {
    databaseId: await databaseId(server.url),
    runs,
    onServer: () => undefined,
    onUnsuitable: () => undefined,
  };
  const { url } = server;
  const database = new Database({ url, connectionsMax: 1, known, onIdleError: () => undefined });
  onTestFinished(() => database.close());
  const pid = statement('pid', {}, 'SELECT pg_backend_pid() AS pid', (row) => row.int('pid'));
  const before = await database.run(pid, {});
  runs.doubt();
  expect(await database.run(pid, {})).toEqual(before);
});

it('a doubt that comes while a connection is checked is not answered by that check (I3)', async () => {
  const server = await createDatabase();
  onTestFinished(() => server.drop());
  const runs = new ServerRuns();
  const known: KnownDatabase = {
    databaseId: await databaseId(server.url),
    runs,
    onServer: () => undefined,
    onUnsuitable: () => undefined,
  };
  const client = await connect(server.url);
  onTestFinished(() => client.end());
  const connecting = connectionChecks(known).onConnect(client);
  runs.doubt();
  await connecting;
  expect(runs.isDoubted(client)).toBe(true);
  const checking = checkAgain(client, known);
  runs.doubt();
  await checking;
  expect(runs.isDoubted(client)).toBe(true);
  await checkAgain(client, known);
  expect(runs.isDoubted(client)).toBe(false);
});
