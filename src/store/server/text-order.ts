import { DatabaseError } from 'pg';
import { type Connection, clientRows } from '../sql/client-rows.ts';
import type { Columns } from '../sql/statement.ts';
import { UnsuitableServer } from './unsuitable-server.ts';

/** Of a row of `pg_database`. */
export const IS_CHANGED = `(datcollversion IS NOT NULL
     AND datcollversion IS DISTINCT FROM pg_database_collation_actual_version(oid))`;

/**
 * The collation version with which the database was made, and the server's present one. No row if they are the same, or
 * if the order of text is PostgreSQL's own (`C`, `C.UTF-8`), which never changes.
 */
const CHANGED = `
  SELECT datcollversion AS made, pg_database_collation_actual_version(oid) AS now, quote_ident(datname) AS name
    FROM pg_database
   WHERE datname = current_database() AND ${IS_CHANGED}`;

/** SQLSTATE of a missing column: servers before 15 do not record the version, so it cannot be checked. */
const UNDEFINED_COLUMN = '42703';

/**
 * Checks that the server sorts text as when this database's indexes were made. A library of the operating system
 * defines that order: on another release (a new image, a standby on another one) PostgreSQL may search for a bet in the
 * wrong part of an index, and a place that was already sent is written, and sent, once more (I5).
 *
 * @throws UnsuitableServer with what to do about it
 */
export async function refuseChangedTextOrder(client: Connection): Promise<void> {
  const [changed] = await clientRows(client, CHANGED, [], (row) => ({
    made: row.text('made'),
    now: row.textOrNull('now') ?? 'none',
    name: row.text('name'),
  })).catch(async (error: unknown) => {
    if (!(error instanceof DatabaseError) || error.code !== UNDEFINED_COLUMN) throw error;
    const read = (row: Columns) => row.text('server_version');
    const [version] = await clientRows(client, 'SHOW server_version', [], read);
    throw new UnsuitableServer(`is version ${version}, and the gateway needs 15 or newer`);
  });
  if (changed === undefined) return;
  const { made, now, name } = changed;
  throw new UnsuitableServer(
    `sorts text otherwise than when its indexes were made (collation version ${made} then, ${now} now), and would ` +
      `not find all bets. Make them anew: REINDEX DATABASE ${name}; ` +
      `ALTER DATABASE ${name} REFRESH COLLATION VERSION;`,
  );
}
