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

/** A database, and what its gateway knows of it. */
async function knownServer() {
  const server = await createDatabase();
  onTestFinished(() => server.drop());
  const known: KnownDatabase = {
    databaseId: await databaseId(server.url),
    runs: new ServerRuns(),
    onUnsuitable: () => undefined,
  };
  return { server, known };
}

it('connections that a pooler leads elsewhere are not used any more, and are again once it leads back (I3)', async () => {
  const { server, known } = await knownServer();
  const pooler = await startSharedSession(server.url);
  onTestFinished(() => pooler.close());
  const dba = await connect(pooler.url);
  onTestFinished(() => dba.end());
  await dba.query('CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.bets (id INT)');
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
  const { server, known } = await knownServer();
  const { url } = server;
  const database = new Database({ url, connectionsMax: 1, known, onIdleError: () => undefined });
  onTestFinished(() => database.close());
  const pid = statement('pid', {}, 'SELECT pg_backend_pid() AS pid', (row) => row.int('pid'));
  const before = await database.run(pid, {});
  known.runs.doubt();
  expect(await database.run(pid, {})).toEqual(before);
});

it('a doubt that comes while a connection is checked is not answered by that check (I3)', async () => {
  const { server, known } = await knownServer();
  const client = await connect(server.url);
  onTestFinished(() => client.end());
  const connecting = connectionChecks(known).onConnect(client);
  known.runs.doubt();
  await connecting;
  expect(known.runs.isDoubted(client)).toBe(true);
  const checking = checkAgain(client, known, 5_000);
  known.runs.doubt();
  await checking;
  expect(known.runs.isDoubted(client)).toBe(true);
  await checkAgain(client, known, 5_000);
  expect(known.runs.isDoubted(client)).toBe(false);
});
