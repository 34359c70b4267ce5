import { type ClientBase, DatabaseError } from 'pg';
import { clientRows } from './client-rows.ts';
import type { Columns } from './statement.ts';
import { UnsuitableServer } from './unsuitable-server.ts';

/**
 * What the database was made with, and what its server has for it now. No row where the two are the same, nor where
 * the order of text is PostgreSQL's own (`C`, `C.UTF-8`), which never changes.
 */
const CHANGED = `
  SELECT datcollversion AS made, pg_database_collation_actual_version(oid) AS now, quote_ident(datname) AS name
    FROM pg_database
   WHERE datname = current_database()
     AND datcollversion IS NOT NULL
     AND datcollversion IS DISTINCT FROM pg_database_collation_actual_version(oid)`;

/** Of a column that is not there: servers before 15 keep no record of it, and could not be trusted with it. */
const UNDEFINED_COLUMN = '42703';

/**
 * Looks whether text is in the order in which this database's indexes were made. That order is a library's of the
 * operating system: on another release of it (a new image, a standby on another one) PostgreSQL looks for a bet where
 * it does not stand, and a place that has been sent is written, and sent, once more (I5).
 *
 * @throws UnsuitableServer with what to do about it
 */
export async function refuseChangedTextOrder(client: ClientBase): Promise<void> {
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
