import type { Client } from 'pg';
import { OUR_SETTINGS, SHORT_SETTINGS, withBriefConnection } from '../server/connection.ts';
import { UnsuitableServer } from '../server/unsuitable-server.ts';
import { clientRows } from '../sql/client-rows.ts';
import type { Columns } from '../sql/statement.ts';

/** Of a connection with short statements: the time that they may wait for a lock is theirs, not the role's. */
export const BRIEF = { ...OUR_SETTINGS, lock_timeout: SHORT_SETTINGS.lock_timeout };

/**
 * Checks what a connection cannot ask for, and whether this one got what it asked for, because poolers may
 * drop that. Otherwise it would be noticed only by a failing bet.
 *
 * @param asked what the connection has asked for
 * @throws UnsuitableServer with what to do about it
 */
export async function checkServer(
  client: Client,
  asked: Readonly<Record<string, string>>,
): Promise<void> {
  const [server] = await clientRows(
    client,
    // The value from before the connection's own request: it asks for `on` if it was `off` (`on-connect.ts`).
    `SELECT current_setting('server_encoding') AS encoding,
            (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS commit,
            quote_ident(session_user) AS role, quote_ident(current_database()) AS database`,
    [],
    (row) => ({
      encoding: row.text('encoding'),
      commit: row.text('commit'),
      role: row.text('role'),
      database: row.text('database'),
    }),
  );
  if (server === undefined) throw new UnsuitableServer('does not say how it is set up');
  const { encoding, commit, role, database } = server;
  if (encoding !== 'UTF8') {
    throw new UnsuitableServer(
      `stores text as ${encoding}, which lacks characters of names and messages: make a database ` +
        `with ENCODING 'UTF8' TEMPLATE template0`,
    );
  }
  const set = (name: string, value: string) =>
    `ALTER ROLE ${role} IN DATABASE ${database} SET ${name} = '${value}';`;
  if (commit === 'off') {
    throw new UnsuitableServer(
      'commits before anything is on its disk (synchronous_commit is off): what it forgets in a crash ' +
        `are bets that wallets have taken. Set ${set('synchronous_commit', 'on')}`,
    );
  }
  const others = await othersThanAsked(client, asked);
  if (others.length === 0) return;
  throw new UnsuitableServer(
    `does not give what its connections ask for (a pooler may drop it): ` +
      `${others.map(({ name, is }) => `${name} is ${is}`).join(', ')}. ` +
      `Set ${others.map(({ name, value }) => set(name, value)).join(' ')}`,
  );
}

/**
 * @returns whether the server waits until a commit is on its disk (`fsync`); otherwise a crash of its machine may lose
 *   bets that wallets have accepted. People may decide so, because the storage may survive such a crash by itself
 * @throws Error of `pg` when the database cannot be reached
 */
export async function waitsForDisk(databaseUrl: string): Promise<boolean> {
  return await withBriefConnection(databaseUrl, 'start', async (client) => {
    const read = (row: Columns) => row.text('fsync');
    const [fsync] = await clientRows(client, 'SHOW fsync', [], read);
    return fsync === 'on';
  });
}

/** On which money hangs, besides the months of the journal. */
const KEPT = [
  'audit',
  'bets',
  'bonus_grants',
  'bonus_intents',
  'bonus_templates',
  'bonuses',
  'books_cursor',
  'books_days',
  'books_movements',
  'books_statements',
  'deliveries',
  'operator_holds',
  'players',
  'sessions',
];

const UNLOGGED = `
  SELECT t.oid::regclass::text AS name
    FROM pg_class t
   WHERE t.relpersistence = 'u' AND t.relkind = 'r'
     AND (t.oid IN (SELECT to_regclass(kept) FROM unnest($1::text[]) kept)
          OR EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = t.oid
                        AND i.inhparent IN (to_regclass('operations'), to_regclass('attempts'))))
   ORDER BY 1`;

/**
 * Checks that a crash of the server empties none of our tables, as it does one that somebody has made UNLOGGED to restore
 * it faster, and not LOGGED again. Nothing would say so: without its bet, a place would be sent to the wallet again (I5).
 *
 * @throws UnsuitableServer with what to do about it
 * @throws Error of `pg` when the database cannot be reached
 */
export async function refuseUnloggedTables(databaseUrl: string): Promise<void> {
  await withBriefConnection(databaseUrl, 'start', async (client) => {
    const names = await clientRows(client, UNLOGGED, [KEPT], (row) => row.text('name'));
    if (names.length === 0) return;
    throw new UnsuitableServer(
      'would lose whole tables in a crash, because they are UNLOGGED: ' +
        `${names.map((name) => `ALTER TABLE ${name} SET LOGGED;`).join(' ')}`,
    );
  });
}

/** In whose ids the order of what was promised, and of what was told, is kept. */
const ORDERED = ['deliveries', 'operations'];

const OUT_OF_ORDER = `
  SELECT s.seqrelid::regclass::text AS name
    FROM pg_sequence s JOIN pg_depend d ON d.objid = s.seqrelid
   WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
     AND d.refobjid IN (SELECT to_regclass(ordered) FROM unnest($1::text[]) ordered)
     AND (s.seqcache > 1 OR s.seqincrement < 0)
   ORDER BY 1`;

/**
 * Checks that a later row has a higher id. Somebody may have given a sequence a CACHE, to spare it a few locks: each
 * connection then has ids in stock, and the rollback of a bet, promised over one, would go before the settle that another
 * one promised earlier (I6).
 *
 * @throws UnsuitableServer with what to do about it
 * @throws Error of `pg` when the database cannot be reached
 */
export async function refuseIdsOutOfOrder(databaseUrl: string): Promise<void> {
  await withBriefConnection(databaseUrl, 'start', async (client) => {
    const names = await clientRows(client, OUT_OF_ORDER, [ORDERED], (row) => row.text('name'));
    if (names.length === 0) return;
    throw new UnsuitableServer(
      'gives ids out of order, so that operations of a bet would overtake each other: ' +
        `${names.map((name) => `ALTER SEQUENCE ${name} INCREMENT 1 CACHE 1;`).join(' ')} ` +
        'Then restart every gateway that runs: its connections go on with the ids that they have in stock',
    );
  });
}

async function othersThanAsked(
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
