import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import {
  OUR_SETTINGS,
  openBriefConnection,
  SHORT_SETTINGS,
  withConnection,
} from '../server/connection.ts';
import { checkServer } from '../server/start-check.ts';
import { clientRows } from '../sql/client-rows.ts';
import { pendingMigrations } from './migrate.ts';

/** Of a connection with short statements: the time that they may wait for a lock is theirs, not the role's. */
const BRIEF = { ...OUR_SETTINGS, lock_timeout: SHORT_SETTINGS.lock_timeout };

/**
 * What the database lacks, for people; undefined if nothing.
 * @throws UnsuitableServer when it must not be used; Error of `pg` when it cannot be reached
 */
export async function whatIsPending(databaseUrl: string): Promise<string | undefined> {
  return await withSchema(databaseUrl, async (client) => {
    const names = await pendingMigrations(client);
    if (names.length === 0) return undefined;
    return `the database lacks ${names.length} migration(s) (${names.join(', ')})`;
  });
}

/**
 * The id of a migrated database, 16 hexadecimal characters, for data that is valid only with it.
 * @throws Error of `pg` when the database cannot be reached
 */
export async function databaseId(databaseUrl: string): Promise<string> {
  return await withSchema(databaseUrl, async (client) => {
    const facts = await clientRows(
      client,
      `SELECT (SELECT "id" FROM "_prisma_migrations" ORDER BY "started_at", "id" LIMIT 1) AS history, oid::text AS oid
         FROM pg_database WHERE datname = current_database()`,
      [],
      (row) => [row.text('history'), row.text('oid')],
    );
    return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 16);
  });
}

async function withSchema<T>(databaseUrl: string, use: (client: Client) => Promise<T>): Promise<T> {
  return await withConnection(openBriefConnection(databaseUrl, 'migrate'), async (client) => {
    await checkServer(client, BRIEF);
    return await use(client);
  });
}
