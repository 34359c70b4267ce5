import type { Client } from 'pg';
import { OUR_SETTINGS, withBriefConnection, withLongConnection } from '../server/connection.ts';
import { journalsOutOfPath, readHistory, readHistoryId } from './migration-history.ts';
import { MIGRATIONS_FOLDER, migrationNames } from './migration-scripts.ts';
import { BRIEF, checkServer } from './server-check.ts';

interface MigrationStatus {
  /** In the folder, but not (or not completely) in the database; in the order to apply. */
  readonly pending: readonly string[];
  /** Begun and never finished. They are pending too, and `migrate` tries them again. */
  readonly failed: readonly string[];
}

export interface Pending {
  /** What the database lacks, for people: what to do follows it. */
  readonly words: string;
  /** A journal is in a schema to which `search_path` does not lead; a start migrates only if the address names its own. */
  readonly isElsewhere: boolean;
}

/**
 * What the database lacks; undefined if nothing. Somebody whose role has got another `search_path` must not
 * make an empty journal beside the one that is there.
 *
 * @throws Error of `pg` when the database cannot be reached
 */
export async function whatIsPending(databaseUrl: string): Promise<Pending | undefined> {
  return await withSchema(databaseUrl, async (client) => {
    const { pending } = await statusOf(client, MIGRATIONS_FOLDER);
    if (pending.length === 0) return undefined;
    const lacks = `the database lacks ${pending.length} migration(s) (${pending.join(', ')})`;
    const schemas = await journalsOutOfPath(client);
    if (schemas.length === 0) return { words: lacks, isElsewhere: false };
    const words =
      `${lacks}; a journal is in the schema ${schemas.join(', ')}, to which search_path does not lead: set ` +
      "search_path if that is this installation's, and only otherwise";
    return { words, isElsewhere: true };
  });
}

/**
 * The id of the history of migrations: two databases have different ones, unless one is a copy.
 * @returns undefined if nothing was ever migrated
 * @throws Error of `pg` when the database cannot be reached
 */
export async function historyId(databaseUrl: string): Promise<string | undefined> {
  return await withSchema(databaseUrl, readHistoryId);
}

/**
 * Which of the folder's migrations the client's database lacks. Migrations of a newer release are ignored: during a
 * rollout, the older processes work with the newer schema.
 *
 * @throws Error of `pg` when the database fails
 */
export async function statusOf(client: Client, folder: string): Promise<MigrationStatus> {
  const names = await migrationNames(folder);
  const begun = await readHistory(client);
  return {
    pending: names.filter((name) => begun.get(name) !== 'finished'),
    failed: names.filter((name) => begun.get(name) === 'unfinished'),
  };
}

/** A connection for changing the schema, to a server that may have it. */
export async function withMigrationClient<T>(
  databaseUrl: string,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  return await withLongConnection({ url: databaseUrl }, 'migrate', async (client) => {
    await checkServer(client, OUR_SETTINGS);
    return await use(client);
  });
}

/** A connection for reading about it. */
async function withSchema<T>(databaseUrl: string, use: (client: Client) => Promise<T>): Promise<T> {
  return await withBriefConnection(databaseUrl, 'migrate', async (client) => {
    await checkServer(client, BRIEF);
    return await use(client);
  });
}
