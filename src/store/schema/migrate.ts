import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client, ClientBase } from 'pg';
import { errorMessage } from '../../lib/faults.ts';
import { OUR_SETTINGS, openLongConnection, withConnection } from '../server/connection.ts';
import { checkServer, refuseSharedSession } from '../server/start-check.ts';
import { clientRows } from '../sql/client-rows.ts';
import { type LockTries, withLockTries } from '../sql/lock-tries.ts';

/** A migration could not be applied; the message names it. Nothing of it is in the database. */
export class MigrationError extends Error {}

export interface MigrateOptions {
  /** Called with each step, for people. */
  readonly log?: (line: string) => void;
  /** Folder of the migrations; default: the repository's. */
  readonly folder?: string;
  /** How long it tries while others hold the tables; default: four minutes. */
  readonly locks?: Pick<LockTries, 'tries' | 'pauseMs'>;
}

const FOLDER = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url));
/** Prisma's own key: a concurrent `prisma migrate deploy` waits for us, or we for it. */
const LOCK_KEY = 72_707_369;

/** Unless the role has a limit of its own: callbacks wait behind a script that waits for a table, and have 5 s. */
const LIMIT_LOCK_WAITS = `
  SELECT set_config('lock_timeout', '2s', false) WHERE current_setting('lock_timeout') = '0'`;

/** Prisma's own table, as its CLI makes and writes it, so that `prisma migrate status` and `deploy` agree with us. */
const TABLE = `
CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL, "checksum" VARCHAR(64) NOT NULL, "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL, "logs" TEXT, "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(), "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;

/**
 * Brings the database to the newest schema; of several processes one applies and the others wait. A migration
 * is applied completely or not at all, an unfinished one is started again.
 * @param databaseUrl a direct connection or a pooler in session mode: the lock belongs to a session
 * @returns the names of the migrations that this call applied
 * @throws MigrationError; UnsuitableServer; Error of `pg` when the database cannot be reached
 */
export async function migrate(
  databaseUrl: string,
  {
    log = () => undefined,
    folder = FOLDER,
    locks = { tries: 30, pauseMs: 8_000 },
  }: MigrateOptions = {},
): Promise<{ applied: readonly string[] }> {
  await refuseSharedSession(databaseUrl);
  return await withConnection(openLongConnection(databaseUrl, 'migrate'), async (client) => {
    await checkServer(client, OUR_SETTINGS);
    // When this process dies, so does its statement: otherwise it would go on, and keep the lock, for nobody.
    await client.query("SET client_connection_check_interval = '500ms'");
    await lock(client, log);
    const names = await pendingMigrations(client, folder);
    const scripts = await Promise.all(names.map((name) => readScript(folder, name)));
    if (names.length > 0) await client.query(TABLE);
    await forgetUnfinished(client, names);
    await client.query(LIMIT_LOCK_WAITS);
    for (const [at, name] of names.entries()) {
      const onWaiting = () =>
        log(`migration ${name} waits, and tries again: others hold its tables`);
      await apply(client, name, scripts[at] ?? '', { ...locks, onWaiting });
      log(`migration ${name} applied`);
    }
    return { applied: names };
  });
}

/**
 * The missing migrations, in order. Those of a newer release are ignored, as during a rollout.
 * @throws Error of `pg`
 */
export async function pendingMigrations(client: ClientBase, folder = FOLDER): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const there = `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there`;
  const [table] = await clientRows(client, there, [], (row) => row.bool('there'));
  const finished = `SELECT "migration_name" AS name FROM "_prisma_migrations"
                     WHERE "finished_at" IS NOT NULL AND "rolled_back_at" IS NULL`;
  const done =
    table === true ? await clientRows(client, finished, [], (row) => row.text('name')) : [];
  return names.filter((name) => !done.includes(name)).sort();
}

/** Waits as long as it takes; the lock ends with the session. */
async function lock(client: Client, log: (line: string) => void): Promise<void> {
  const taken = 'SELECT pg_try_advisory_lock($1) AS taken';
  const [isTaken] = await clientRows(client, taken, [LOCK_KEY], (row) => row.bool('taken'));
  if (isTaken === true) return;
  log('another process is applying migrations: waiting for it');
  await client.query('SET lock_timeout = 0');
  await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
  await client.query('RESET lock_timeout');
}

async function readScript(folder: string, name: string): Promise<string> {
  try {
    return await readFile(join(folder, name, 'migration.sql'), 'utf8');
  } catch (cause) {
    throw new MigrationError(`migration ${name} has no migration.sql that can be read`, { cause });
  }
}

/** Nothing of them is in the database, and the Prisma CLI would refuse to go on. */
async function forgetUnfinished(client: Client, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await client.query(
    `UPDATE "_prisma_migrations" SET "rolled_back_at" = now()
      WHERE "finished_at" IS NULL AND "rolled_back_at" IS NULL AND "migration_name" = ANY ($1)`,
    [names],
  );
}

async function apply(client: Client, name: string, sql: string, locks: LockTries): Promise<void> {
  const id = randomUUID();
  await client.query(
    'INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name") VALUES ($1, $2, $3)',
    [id, createHash('sha256').update(sql).digest('hex'), name],
  );
  // One text is one transaction. The script may end with a comment, or without a semicolon.
  const whole = `${sql}
;UPDATE "_prisma_migrations" SET "finished_at" = now(), "applied_steps_count" = 1 WHERE "id" = '${id}'`;
  try {
    await withLockTries(locks, () => client.query(whole));
  } catch (cause) {
    const why = errorMessage(cause);
    const failed = 'UPDATE "_prisma_migrations" SET "logs" = $2 WHERE "id" = $1';
    // A broken connection cannot record it either; the row without an end says enough.
    await client.query(failed, [id, why]).catch(() => undefined);
    throw new MigrationError(`migration ${name} could not be applied: ${why}`, { cause });
  }
}
