import { type Client, DatabaseError } from 'pg';
import { clientRows } from '../sql/client-rows.ts';
import { openBriefConnection, withConnection } from './connection.ts';
import { UnsuitableServer } from './unsuitable-server.ts';

const VERSION_MIN = 15;

/**
 * Checks what a connection cannot ask for, and whether this one got what it asked for: poolers may drop that.
 * @param asked what the connection has asked for @throws UnsuitableServer with what to do about it
 */
export async function checkServer(
  client: Client,
  asked: Readonly<Record<string, string>>,
): Promise<void> {
  const [server] = await clientRows(
    client,
    `SELECT current_setting('server_version_num')::int / 10000 AS version,
            current_setting('server_encoding') AS encoding,
            quote_ident(session_user) AS role, quote_ident(current_database()) AS database`,
    [],
    (row) => ({
      version: row.int('version'),
      encoding: row.text('encoding'),
      role: row.text('role'),
      database: row.text('database'),
    }),
  );
  if (server === undefined) throw new UnsuitableServer('does not say how it is set up');
  const { version, encoding, role, database } = server;
  if (version < VERSION_MIN) {
    throw new UnsuitableServer(
      `is version ${version}, and the gateway needs ${VERSION_MIN} or newer`,
    );
  }
  if (encoding !== 'UTF8') {
    throw new UnsuitableServer(
      `stores text as ${encoding}, which lacks characters of names and messages: make a database ` +
        `with ENCODING 'UTF8' TEMPLATE template0`,
    );
  }
  const others = await differingSettings(client, asked);
  if (others.length === 0) return;
  const set = (name: string, value: string) =>
    `ALTER ROLE ${role} IN DATABASE ${database} SET ${name} = '${value}';`;
  throw new UnsuitableServer(
    `does not give what its connections ask for (a pooler may drop it): ` +
      `${others.map(({ name, is }) => `${name} is ${is}`).join(', ')}. ` +
      `Set ${others.map(({ name, value }) => set(name, value)).join(' ')}`,
  );
}

async function differingSettings(
  client: Client,
  asked: Readonly<Record<string, string>>,
): Promise<readonly { readonly name: string; readonly value: string; readonly is: string }[]> {
  // By lower-case name, because the case of names in `pg_settings` differs.
  const wanted = new Map(
    Object.entries(asked).map(([name, value]) => [name.toLowerCase(), { name, value }]),
  );
  const rows = await clientRows(
    client,
    'SELECT lower(name) AS name, setting FROM pg_settings WHERE lower(name) = ANY($1) ORDER BY 1',
    [[...wanted.keys()]],
    (row) => ({ name: row.text('name'), is: row.text('setting') }),
  );
  return rows.flatMap(({ name, is }) => {
    const ours = wanted.get(name);
    return ours === undefined || meansTheSame(is, ours.value) ? [] : [{ ...ours, is }];
  });
}

/** UTC has several names, and `DateStyle` may add an order of date parts, which ISO ignores. */
function meansTheSame(is: string, wanted: string): boolean {
  if (wanted === 'UTC') return /^(?:Etc\/)?(?:UTC|UCT|GMT|Zulu|Universal)$/i.test(is);
  return is === wanted || is.startsWith(`${wanted}, `);
}

/** Whether a confirmed commit survives a crash of the server. @throws Error of `pg` */
export async function keepsCommits(databaseUrl: string): Promise<boolean> {
  return await withConnection(openBriefConnection(databaseUrl, 'start'), async (client) => {
    const asked = `SELECT current_setting('synchronous_commit') <> 'off' AS kept`;
    const [kept] = await clientRows(client, asked, [], (row) => row.bool('kept'));
    return kept === true;
  });
}

/** How often each of two connections is asked: a pooler may give the same session a few times. */
const ROUNDS = 5;

/**
 * Checks that a connection has a session to itself: behind a pooler in transaction mode, locks and temporary
 * tables would be mixed up. @throws UnsuitableServer with what to do about it
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

/** A prepared statement that is there already, or not there: another connection's. */
const MIXED = new Set(['42P05', '26000']);

/**
 * Checks that the prepared statements of a connection are its own: a pooler that mixes them up would have every
 * other bet answered 100. @throws UnsuitableServer with what to do about it
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

/** Asks two open connections in turn. A server that has room for only one is not asked. */
async function withTwo(databaseUrl: string, ask: (client: Client) => Promise<void>): Promise<void> {
  const clients = [await openBriefConnection(databaseUrl, 'start')];
  try {
    try {
      const second = await openBriefConnection(databaseUrl, 'start', SECOND_ANSWERS_MS);
      clients.push(second);
      await second.query('SELECT 1');
    } catch {
      return;
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const client of clients) await ask(client);
    }
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}
