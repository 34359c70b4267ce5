import type { Client } from 'pg';
import { clientRows } from '../client-rows.ts';

/** Others may keep tables of their own in the same schema, whose ids are none of ours. */
const NUMBERED = [
  'audit',
  'bonus_grants',
  'bonus_intents',
  'books_violations',
  'deliveries',
  'operations',
  'players',
  'reconciliation_differences',
  'reconciliations',
  'sessions',
];

/** A sequence that would give ids which rows of its table have already. */
interface BehindSequence {
  /** As a statement may name it. */
  readonly sequence: string;
  readonly table: string;
  readonly highest: string;
}

/** Those that this role may use, each with the column that it numbers; the tables are those that our statements find. */
const SEQUENCES = `
  SELECT s.oid::regclass::text AS sequence, t.oid::regclass::text AS table, quote_ident(a.attname) AS column
    FROM unnest($1::text[]) AS numbered(name)
    JOIN pg_class t ON t.oid = to_regclass(numbered.name)
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid
                    AND d.classid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
    JOIN pg_class s ON s.oid = d.objid
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
   WHERE has_column_privilege(t.oid, a.attnum, 'SELECT')
     AND CASE WHEN s.relkind = 'S' THEN has_sequence_privilege(s.oid, 'USAGE, SELECT') END
   ORDER BY 1`;

/**
 * Sequences that are behind the rows of their tables: logical replication brings the rows and not how far their ids
 * had come. A row is seen here only after its sequence had given its id, so that none is
 * behind for a moment while others write.
 */
export async function sequencesBehind(client: Client): Promise<readonly BehindSequence[]> {
  const all = await clientRows(client, SEQUENCES, [NUMBERED], (row) => ({
    sequence: row.text('sequence'),
    table: row.text('table'),
    column: row.text('column'),
  }));
  const behind: BehindSequence[] = [];
  for (const { sequence, table, column } of all) {
    const found = await clientRows(
      client,
      `SELECT highest::text FROM (SELECT max(${column}) AS highest FROM ${table}) ids
        WHERE highest > coalesce(pg_sequence_last_value($1::regclass), 0)`,
      [sequence],
      (row) => row.text('highest'),
    );
    behind.push(...found.map((highest) => ({ sequence, table, highest })));
  }
  return behind;
}

/**
 * Has them go on above the ids that are there. Nothing may write meanwhile, and nothing does: no process starts on
 * such a database.
 *
 * @returns the tables whose ids go on
 */
export async function goOnAboveBroughtIds(client: Client): Promise<readonly string[]> {
  const behind = await sequencesBehind(client);
  for (const { sequence, highest } of behind) {
    await client.query('SELECT setval($1::regclass, $2::bigint)', [sequence, highest]);
  }
  return behind.map(({ table }) => table);
}
