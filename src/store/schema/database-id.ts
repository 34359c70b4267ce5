import { createHash } from 'node:crypto';
import { clientRows } from '../client-rows.ts';
import { openLongConnection } from '../connection.ts';
import { readHistoryId } from './migration-history.ts';

/** Nobody makes so many databases that two would have the same. */
const ID_CHARACTERS = 16;

/**
 * Which database this is, for what stands outside of it and counts only together with it. Another one has another
 * id, also where it is a restored dump or a copy within one server, and so has one that has moved to another
 * server. The same has a standby, and whatever else is a copy of the server's files.
 *
 * @returns 16 hexadecimal characters
 * @throws Error of `pg` when the database cannot be reached
 */
export async function databaseId(databaseUrl: string): Promise<string> {
  const client = await openLongConnection(databaseUrl, 'start');
  try {
    const [here] = await clientRows(
      client,
      `SELECT oid::text AS oid, has_function_privilege('pg_control_system()', 'EXECUTE') AS tells
         FROM pg_database WHERE datname = current_database()`,
      [],
      (row) => ({ oid: row.text('oid'), tells: row.bool('tells') }),
    );
    // Everybody may ask, unless somebody has taken it away: then the rest has to do.
    const [server] =
      here?.tells === true
        ? await clientRows(
            client,
            'SELECT system_identifier::text AS id FROM pg_control_system()',
            [],
            (row) => row.text('id'),
          )
        : [];
    const facts = [await readHistoryId(client), server, here?.oid];
    return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, ID_CHARACTERS);
  } finally {
    await client.end();
  }
}
