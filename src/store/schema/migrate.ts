import { type Client, DatabaseError } from 'pg';
import { refuseSharedSession } from '../server/pooler-check.ts';
import { goOnAboveBroughtIds } from './brought-ids.ts';
import { goOnAboveBrought } from './brought-journal.ts';
import { type LockTries, limitLockWaits, withLockTries } from './lock-tries.ts';
import {
  beginMigration,
  ensureHistory,
  forgetUnfinished,
  historyElsewhere,
  isPathOfAddress,
  journalsOutOfPath,
  markFailed,
  readHistory,
  runAndMarkFinished,
} from './migration-history.ts';
import { lockMigrations } from './migration-lock.ts';
import {
  MIGRATIONS_FOLDER,
  MigrationError,
  migrationNames,
  readScript,
  type Script,
} from './migration-scripts.ts';
import { statusOf, withMigrationClient } from './migration-status.ts';
import { giveMonthsToOwner } from './months-owner.ts';

export interface MigrateOptions {
  /** Called with each step, for people. */
  readonly log?: (line: string) => void;
  /** Folder of the migrations; default: the repository's. */
  readonly folder?: string;
  /** Whether a person asked for it: a start makes no second journal where `search_path` may have been changed. */
  readonly isAsked?: boolean;
  /** How long it tries while others hold the tables; default: five minutes. */
  readonly locks?: Pick<LockTries, 'tries' | 'pauseMs'>;
}

const PATIENT = { tries: 30, pauseMs: 8_000 };

/**
 * Brings the database to the newest schema. Any number of processes may call this at once: one
 * applies, the others wait and find nothing to do. A migration is applied completely or not at all, and
 * one that an earlier process did not finish is started again. If others hold its tables, such as a backup
 * or an open transaction, it lets callbacks pass and tries again.
 *
 * @param databaseUrl a direct connection or a pooler in session mode: the lock belongs to a session
 * @returns the names of the migrations that this call applied
 * @throws MigrationError when one cannot be applied; those before it stay applied
 * @throws UnsuitableServer when the server must not have the schema, or shares its sessions
 * @throws Error of `pg` when the database cannot be reached
 */
export async function migrate(
  databaseUrl: string,
  {
    log = () => undefined,
    folder = MIGRATIONS_FOLDER,
    locks = PATIENT,
    isAsked = true,
  }: MigrateOptions = {},
): Promise<{ applied: string[] }> {
  await refuseSharedSession(databaseUrl);
  return withMigrationClient(databaseUrl, async (client) => {
    await prepareSession(client);
    await lockMigrations(client, log);
    await checkIsOurs(client, folder);
    if (!isAsked) await refuseSecondJournal(client);
    const applied = await applyPending(client, folder, locks, log);
    if (await goOnAboveBrought(client)) {
      log('the journal comes from another server: it goes on above the transactions that it holds');
    }
    const tables = await goOnAboveBroughtIds(client);
    if (tables.length > 0) {
      log(
        `rows were brought here without their sequences: ids go on above theirs (${tables.join(', ')})`,
      );
    }
    await giveMonthsToOwner(client, log);
    return { applied };
  });
}

/**
 * A journal in a further schema of `search_path` may be another installation's, so it must neither be used nor
 * changed. A history of other migrations is another program's and does not matter.
 */
async function checkIsOurs(client: Client, folder: string): Promise<void> {
  const elsewhere = await historyElsewhere(client);
  if (elsewhere === undefined) return;
  const [begun, names] = [await readHistory(client), await migrationNames(folder)];
  if (!names.some((name) => begun.has(name))) return;
  const { there, here } = elsewhere;
  throw new MigrationError(
    `there is a journal in the schema ${there}, but new tables would be made in ${here}: let search_path begin ` +
      `with ${there} if that journal is this installation's, or leave ${there} out of it if it is another's`,
  );
}

/**
 * Somebody may have changed `search_path` of the role or the database since: an empty journal would forget every bet. An
 * address that names the schema itself is not changed by that.
 */
async function refuseSecondJournal(client: Client): Promise<void> {
  if (await isPathOfAddress(client)) return;
  const schemas = await journalsOutOfPath(client);
  if (schemas.length === 0) return;
  throw new MigrationError(
    `a journal is in the schema ${schemas.join(', ')}, to which search_path does not lead: set search_path if that is ` +
      "this installation's; if a second one is meant, run `wagergate migrate` once",
  );
}

async function applyPending(
  client: Client,
  folder: string,
  locks: Pick<LockTries, 'tries' | 'pauseMs'>,
  log: (line: string) => void,
): Promise<string[]> {
  const { pending } = await statusOf(client, folder);
  const scripts = await Promise.all(pending.map((name) => readScript(folder, name)));
  if (scripts.length === 0) return [];
  await ensureHistory(client);
  for (const name of await forgetUnfinished(client, pending)) {
    log(`migration ${name} was begun earlier and not finished: trying it again`);
  }
  await limitLockWaits(client);
  for (const script of scripts) {
    const onWaiting = (holders: string) =>
      log(`migration ${script.name} waits, and tries again: others hold its tables: ${holders}`);
    await apply(client, script, { ...locks, onWaiting });
    log(`migration ${script.name} applied`);
  }
  return scripts.map(({ name }) => name);
}

/**
 * When this process dies, so does its statement: otherwise the server would continue with it, and keep
 * the lock, for nobody.
 */
async function prepareSession(client: Client): Promise<void> {
  await client.query("SET client_connection_check_interval = '500ms'");
}

async function apply(client: Client, { name, sql }: Script, locks: LockTries): Promise<void> {
  const id = await beginMigration(client, name, sql);
  try {
    await withLockTries(client, locks, () => runAndMarkFinished(client, id, sql));
  } catch (cause) {
    const why = wordsOf(cause, sql);
    // A broken connection cannot record it either; the row without an end says enough.
    await markFailed(client, id, why).catch(() => undefined);
    throw new MigrationError(`migration ${name} could not be applied: ${why}`, { cause });
  }
}

/** PostgreSQL's message, with the line of the script that it is about. */
function wordsOf(error: unknown, sql: string): string {
  if (!(error instanceof Error)) return String(error);
  const position = error instanceof DatabaseError ? Number(error.position) : Number.NaN;
  if (!Number.isInteger(position)) return error.message;
  // PostgreSQL counts characters, not UTF-16 units.
  const line = [...sql].slice(0, position - 1).filter((one) => one === '\n').length + 1;
  return `line ${line}: ${error.message}`;
}
