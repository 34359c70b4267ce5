import type { Client } from 'pg';
import { withBriefConnection } from '../server/connection.ts';
import { clientRows } from '../sql/client-rows.ts';
import { sequencesBehind } from './brought-ids.ts';

/**
 * The highest transaction id in the journal, if this server has not reached it. Every row that the server itself wrote
 * is from a transaction that began before this statement; a row with a later id comes from another server.
 */
const AHEAD = `
  WITH ids AS (
    (SELECT written_in AS id FROM attempts WHERE confirmed IS NOT FALSE
      ORDER BY written_in DESC, operation_id DESC, number DESC LIMIT 1)
    UNION ALL
    SELECT unnest(ARRAY[written_in, checked_in, pruned_in]) FROM books_cursor
  )
  SELECT id::text FROM ids
   WHERE id >= journal_written_in(pg_snapshot_xmax(pg_current_snapshot()))
   ORDER BY ids.id DESC LIMIT 1`;

const HAS_FUNCTION = `SELECT to_regproc('journal_written_in') IS NOT NULL AS has`;

/**
 * Whether the rows of the journal come from another server (a dump, logical replication). The books
 * would not read them, and would close days without them (docs/decisions/0023); and if the sequences were not copied
 * too, ids would be assigned twice.
 *
 * @param databaseUrl a database with this release's schema
 * @throws Error of `pg` when it cannot be reached
 */
export async function isBroughtJournal(databaseUrl: string): Promise<boolean> {
  return await withBriefConnection(databaseUrl, 'start', async (client) => {
    return (await idAhead(client)) !== undefined || (await sequencesBehind(client)).length > 0;
  });
}

/**
 * Continues such a journal above its highest transaction id. No row changes: their order is the order in which wallets
 * confirmed. Nothing may write to the journal meanwhile, and nothing does: no process starts on it.
 *
 * @returns whether that was necessary
 */
export async function goOnAboveBrought(client: Client): Promise<boolean> {
  const [known] = await clientRows(client, HAS_FUNCTION, [], (row) => row.bool('has'));
  if (known !== true) return false;
  const ahead = await idAhead(client);
  if (ahead === undefined) return false;
  // This server's own ids are above 0, so their sums are above `ahead`.
  await client.query(
    `CREATE OR REPLACE FUNCTION journal_written_in(id XID8) RETURNS XID8
       LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ((id::text::numeric + ${ahead})::text)::xid8 $$`,
  );
  return true;
}

async function idAhead(client: Client): Promise<bigint | undefined> {
  const [id] = await clientRows(client, AHEAD, [], (row) => BigInt(row.text('id')));
  return id;
}
