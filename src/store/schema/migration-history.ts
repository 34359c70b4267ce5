import { createHash, randomUUID } from 'node:crypto';
import type { Client, ClientBase } from 'pg';
import { type Connection, clientRows } from '../sql/client-rows.ts';

/**
 * Which migrations the database has had: Prisma's own table `_prisma_migrations`, written as the
 * Prisma CLI writes it, so that `prisma migrate status` and `deploy` can continue after us, and we
 * after them.
 */

const TABLE = `
CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;

/** Creates the table if there is none. */
export async function ensureHistory(client: Client): Promise<void> {
  await client.query(TABLE);
}

/** The state of each migration that was not rolled back; empty if there is no table yet. */
export async function readHistory(
  client: ClientBase,
): Promise<ReadonlyMap<string, 'finished' | 'unfinished'>> {
  if (!(await hasHistory(client))) return new Map();
  const begun = await clientRows(
    client,
    `SELECT "migration_name" AS name, bool_or("finished_at" IS NOT NULL) AS finished
     FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL GROUP BY 1`,
    [],
    (row) => [row.text('name'), row.bool('finished') ? 'finished' : 'unfinished'] as const,
  );
  return new Map(begun);
}

/**
 * The schema of the history, if `search_path` would make new tables in another one.
 * @returns undefined if that is the same schema, or there is no history yet
 */
export async function historyElsewhere(
  client: ClientBase,
): Promise<{ readonly there: string; readonly here: string } | undefined> {
  const [elsewhere] = await clientRows(
    client,
    `SELECT n.nspname::text AS there, current_schema()::text AS here
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.oid = to_regclass('_prisma_migrations') AND n.nspname <> current_schema()`,
    [],
    (row) => ({ there: row.text('there'), here: row.text('here') }),
  );
  return elsewhere;
}

/** The schemas with a journal, if `search_path` leads to none. */
export async function journalsOutOfPath(client: ClientBase): Promise<readonly string[]> {
  if (await hasHistory(client)) return [];
  return await clientRows(
    client,
    `SELECT n.nspname::text AS schema FROM pg_class bets JOIN pg_namespace n ON n.oid = bets.relnamespace
      WHERE bets.relname = 'bets' AND bets.relkind = 'r'
        AND EXISTS (SELECT FROM pg_class h WHERE h.relnamespace = n.oid AND h.relname = '_prisma_migrations')
      ORDER BY 1`,
    [],
    (row) => row.text('schema'),
  );
}

/** Whether the address of the database sets `search_path` (`options=-c search_path=…`). */
export async function isPathOfAddress(client: ClientBase): Promise<boolean> {
  const [source] = await clientRows(
    client,
    "SELECT source FROM pg_settings WHERE name = 'search_path'",
    [],
    (row) => row.text('source'),
  );
  return source === 'client';
}

/** Selects the `id` of the first migration. */
export const FIRST_MIGRATION = `
  SELECT "id" FROM "_prisma_migrations"
   WHERE EXISTS (SELECT FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL)
   ORDER BY "started_at", "id" LIMIT 1`;

/** The id of the first migration that was ever begun; undefined if there was none. */
export async function readHistoryId(client: Connection): Promise<string | undefined> {
  if (!(await hasHistory(client))) return undefined;
  const [id] = await clientRows(client, FIRST_MIGRATION, [], (row) => row.text('id'));
  return id;
}

async function hasHistory(client: Connection): Promise<boolean> {
  const [isThere] = await clientRows(
    client,
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there`,
    [],
    (row) => row.bool('there'),
  );
  return isThere === true;
}

/**
 * Marks our unfinished migrations as rolled back: nothing of them is in the database, and the Prisma CLI would refuse
 * to continue. Migrations of another program in the same schema are left alone.
 *
 * @param names the names of our migrations
 * @returns the names of those that were marked
 */
export async function forgetUnfinished(
  client: Client,
  names: readonly string[],
): Promise<string[]> {
  return await clientRows(
    client,
    `UPDATE "_prisma_migrations" SET "rolled_back_at" = now()
     WHERE "finished_at" IS NULL AND "rolled_back_at" IS NULL AND "migration_name" = ANY ($1)
     RETURNING "migration_name" AS name`,
    [names],
    (row) => row.text('name'),
  );
}

/** Records that a migration begins. @returns the id of its row */
export async function beginMigration(client: Client, name: string, sql: string): Promise<string> {
  const id = randomUUID();
  const checksum = createHash('sha256').update(sql).digest('hex');
  await client.query(
    'INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name") VALUES ($1, $2, $3)',
    [id, checksum, name],
  );
  return id;
}

/** Indexes that somebody may already have created by hand, as the changelog advises for large tables. */
const INDEX_UNLESS_THERE = /\bCREATE (?:UNIQUE )?INDEX IF NOT EXISTS "([a-z0-9_]+)"/g;

/**
 * Fails if such an index exists but is invalid, as left by an interrupted `CREATE INDEX CONCURRENTLY` (for example by a
 * `statement_timeout` of the role): the script does not change it, and PostgreSQL would never use it.
 */
function refuseUnfinishedIndexes(sql: string): string {
  const names = [...sql.matchAll(INDEX_UNLESS_THERE)].map(([, name]) => `'${name}'`);
  if (names.length === 0) return '';
  return `
DO $$
DECLARE unfinished TEXT;
BEGIN
  SELECT string_agg(i.indexrelid::regclass::text, ', ') INTO unfinished
    FROM unnest(ARRAY[${names.join(', ')}]) name JOIN pg_index i ON i.indexrelid = to_regclass(name)
   WHERE NOT i.indisvalid;
  IF unfinished IS NOT NULL THEN
    RAISE EXCEPTION '% was begun by hand and not finished, and would never be used: DROP INDEX it, then create it '
      'again or leave that to the migration', unfinished;
  END IF;
END $$;`;
}

/**
 * Runs a migration's script. Sent as one text, by the simple protocol, it is one transaction in
 * PostgreSQL. The same transaction marks it as finished, so that even after a killed process an
 * unfinished migration has certainly done nothing.
 *
 * @param id from `beginMigration`, so that it is safe to put into the text
 * @throws DatabaseError of the statement that failed
 */
export async function runAndMarkFinished(client: Client, id: string, sql: string): Promise<void> {
  // On separate lines: a script may end with a comment, or without a semicolon.
  await client.query(`${sql}
;${refuseUnfinishedIndexes(sql)}
UPDATE "_prisma_migrations" SET "finished_at" = now(), "applied_steps_count" = 1 WHERE "id" = '${id}'`);
}

/** Stores the reason in the migration's row, where the Prisma CLI shows it. */
export async function markFailed(client: Client, id: string, why: string): Promise<void> {
  await client.query('UPDATE "_prisma_migrations" SET "logs" = $2 WHERE "id" = $1', [id, why]);
}
