import { type Client, DatabaseError } from 'pg';
import { clientRows } from '../sql/client-rows.ts';
import { openBriefConnection } from './connection.ts';
import { UnsuitableServer } from './unsuitable-server.ts';

/**
 * How often each of two connections is asked in turn. A pooler that nobody else uses shows itself at the first; if others
 * do, it may give the same session to the same connection a few times.
 */
const ROUNDS = 5;

/**
 * Checks that a connection has a session of PostgreSQL to itself. A pooler in transaction mode gives it another one for
 * each statement: the lock of a migration would then hold nobody off, or everybody for good, and the list of one
 * comparison would be in the table of another.
 *
 * @throws UnsuitableServer with what to do about it
 */
export async function refuseSharedSession(databaseUrl: string): Promise<void> {
  const sessions = new Map<number, Client>();
  await withTwo(databaseUrl, async (client) => {
    const [pid] = await clientRows(client, 'SELECT pg_backend_pid() AS pid', [], (row) =>
      row.int('pid'),
    );
    if (pid === undefined) return;
    const isOthers = (sessions.get(pid) ?? client) !== client;
    sessions.set(pid, client);
    if (!isOthers && sessions.size <= 2) return;
    throw new UnsuitableServer(
      'gives one session to several connections (a pooler in transaction mode), so that locks and temporary tables ' +
        'would be mixed up: set DATABASE_DIRECT_URL to an address of the same database without it ' +
        '(docs/databases.md, Connection poolers)',
    );
  });
}

/** Names that would have told two connections' prepared statements apart: there already, or not there. */
const MIXED = new Set(['42P05', '26000']);

/**
 * Checks that the prepared statements of a connection are its own. A pooler in transaction mode that knows nothing of them
 * would have every other bet answered 100, and so would one that hands sessions on without discarding them.
 *
 * @throws UnsuitableServer with what to do about it
 */
export async function refuseMixedStatements(databaseUrl: string): Promise<void> {
  // The second two may get the sessions that the first have left.
  for (let twice = 0; twice < 2; twice += 1) await withTwo(databaseUrl, prepared);
}

async function prepared(client: Client): Promise<void> {
  try {
    await client.query({ name: 'wagergate-start', text: 'SELECT 1' });
  } catch (error) {
    if (!(error instanceof DatabaseError) || !MIXED.has(error.code ?? '')) throw error;
    throw new UnsuitableServer(
      `mixes up the prepared statements of its connections (${error.message}): as a pooler in transaction mode use ` +
        'PgBouncer 1.21 or newer with max_prepared_statements = 200; in session mode, server_reset_query = DISCARD ALL ' +
        '(docs/databases.md, Connection poolers)',
    );
  }
}

/** A pooler without room has a second connection wait, for two minutes or for good. */
const SECOND_ANSWERS_MS = 5_000;

/**
 * Asks two connections in turn that are open at the same time. A server that has room for only one, whatever it says, is
 * not asked: whoever comes to repair it has to get in.
 */
async function withTwo(databaseUrl: string, ask: (client: Client) => Promise<void>): Promise<void> {
  const clients = [await openBriefConnection(databaseUrl, 'start')];
  try {
    try {
      clients.push(await openBriefConnection(databaseUrl, 'start', SECOND_ANSWERS_MS));
    } catch (error) {
      if (error instanceof UnsuitableServer) throw error;
      return;
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const client of clients) await ask(client);
    }
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}
