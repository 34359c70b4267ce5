import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { type MigrationList, withSchemaEngine, wordsOf } from './migrations-engine.ts';

export interface MigrateOptions {
  /** Told each step, for people. */
  readonly log?: (line: string) => void;
  /** Folder of the migrations; the repository's unless given. */
  readonly folder?: string;
}

export interface MigrationStatus {
  /** In the folder, but not (or not completely) in the database; in the order to apply. */
  readonly pending: readonly string[];
  /** Begun and never finished. They are tried again by `migrate`, and pending too. */
  readonly failed: readonly string[];
}

/** A migration could not be applied; the message names it. Nothing of it is in the database. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

const REPOSITORY_FOLDER = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));

/** Ours alone; not the one Prisma takes, which several processes at once run into an error with. */
const LOCK_KEY = 2_002_872_165;

/**
 * Brings the database to the newest schema. Any number of processes may call this at once: one
 * applies, the others wait and find nothing to do. A migration is applied wholly or not at all, and
 * one that an earlier process began and did not finish is begun again.
 *
 * @param databaseUrl a direct connection or a pooler in session mode: the lock belongs to a session
 * @returns the names of the migrations that this call applied
 * @throws MigrationError when one cannot be applied; those before it stay applied
 * @throws Error of `pg` when the database cannot be reached
 */
export async function migrate(
  databaseUrl: string,
  { log = () => undefined, folder = REPOSITORY_FOLDER }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  return withClient(databaseUrl, async (client) => {
    await lock(client, log);
    const { pending } = await statusOf(client, folder);
    if (pending.length === 0) return { applied: [] };
    for (const name of await forgetUnfinished(client)) {
      log(`migration ${name} was begun earlier and not finished: trying it again`);
    }
    const applied = await apply(client, databaseUrl, folder);
    for (const name of applied) log(`migration ${name} applied`);
    return { applied };
  });
}

/**
 * What `migrate` would have to do. Migrations of a newer release are not looked at: while a rollout
 * goes on, the older processes work with the newer schema.
 *
 * @throws Error of `pg` when the database cannot be reached
 */
export async function migrationStatus(
  databaseUrl: string,
  { folder = REPOSITORY_FOLDER }: Pick<MigrateOptions, 'folder'> = {},
): Promise<MigrationStatus> {
  return withClient(databaseUrl, (client) => statusOf(client, folder));
}

/** Names of the migrations that the database lacks, in order; empty when it is up to date. */
export async function pendingMigrations(
  databaseUrl: string,
  options: Pick<MigrateOptions, 'folder'> = {},
): Promise<readonly string[]> {
  return (await migrationStatus(databaseUrl, options)).pending;
}

/**
 * The SQL by which Prisma would create a schema from nothing: to begin a migration with, and to
 * prove that the migrations lead to the schema.
 *
 * @param databaseUrl any database; it is not touched
 * @param schema content of a `schema.prisma`
 */
export async function sqlOfSchema(databaseUrl: string, schema: string): Promise<string> {
  const { stdout } = await withSchemaEngine(databaseUrl, (engine) =>
    engine.diff({
      from: { tag: 'empty' },
      to: { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content: schema }] },
      script: true,
      exitCode: null,
      filters: NO_FILTERS,
    }),
  );
  return stdout ?? '';
}

const NO_FILTERS = { externalTables: [], externalEnums: [] };

async function withClient<T>(databaseUrl: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  // A connection that breaks while it only holds the lock: `end` and later queries tell.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Waits as long as it takes; the lock goes with the session. */
async function lock(client: Client, log: (line: string) => void): Promise<void> {
  const tried = await client.query<{ locked: boolean }>(
    'SELECT pg_try_advisory_lock($1) AS locked',
    [LOCK_KEY],
  );
  if (tried.rows[0]?.locked === true) return;
  log('another process is applying migrations: waiting for it');
  await client.query('SET statement_timeout = 0');
  await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
}

async function apply(client: Client, databaseUrl: string, folder: string): Promise<string[]> {
  const migrationsList = await readMigrations(folder);
  try {
    const { appliedMigrationNames } = await withSchemaEngine(databaseUrl, (engine) =>
      engine.applyMigrations({ migrationsList, filters: NO_FILTERS }),
    );
    return appliedMigrationNames;
  } catch (cause) {
    const { failed } = await statusOf(client, folder);
    const subject = failed.length === 0 ? 'migrations' : `migration ${failed.join(', ')}`;
    throw new MigrationError(`${subject} could not be applied: ${wordsOf(cause)}`, { cause });
  }
}

/** Prisma refuses to go on after an unfinished migration until somebody has said what it did. */
async function forgetUnfinished(client: Client): Promise<string[]> {
  if (!(await hasMigrationsTable(client))) return [];
  const { rows } = await client.query<{ migration_name: string }>(
    `UPDATE "_prisma_migrations" SET "rolled_back_at" = now()
     WHERE "finished_at" IS NULL AND "rolled_back_at" IS NULL RETURNING "migration_name"`,
  );
  return rows.map((row) => row.migration_name);
}

async function statusOf(client: Client, folder: string): Promise<MigrationStatus> {
  const names = await migrationNames(folder);
  if (!(await hasMigrationsTable(client))) return { pending: names, failed: [] };
  const { rows } = await client.query<{ migration_name: string; finished: boolean }>(
    `SELECT "migration_name", "finished_at" IS NOT NULL AS "finished"
     FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL`,
  );
  const begun = new Map(rows.map((row) => [row.migration_name, row.finished]));
  return {
    pending: names.filter((name) => begun.get(name) !== true),
    failed: names.filter((name) => begun.get(name) === false),
  };
}

async function hasMigrationsTable(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there`,
  );
  return rows[0]?.there === true;
}

/** Folders that begin with the time they were made: their names are their order. */
async function migrationNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

async function readMigrations(folder: string): Promise<MigrationList> {
  const lockFile = 'migration_lock.toml';
  const names = await migrationNames(folder);
  return {
    baseDir: folder,
    lockfile: { path: lockFile, content: await readFile(join(folder, lockFile), 'utf8') },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(
      names.map(async (name) => {
        const value = await readFile(join(folder, name, 'migration.sql'), 'utf8');
        const path = 'migration.sql';
        return { path: name, migrationFile: { path, content: { tag: 'ok' as const, value } } };
      }),
    ),
  };
}
