import type { Client } from 'pg';
import { clientRows } from '../sql/client-rows.ts';

/** Our tables with numbered ids; the same schema may contain other programs' tables. */
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

/** A sequence that would assign ids that rows of its table already have. */
interface BehindSequence {
  /** Its name, quoted for a statement. */
  readonly sequence: string;
  readonly table: string;
  readonly highest: string;
}

/** The sequences that this role may use, each with its column; the tables are those that our statements find. */
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
 * Sequences that are behind the rows of their tables: logical replication copies the rows, but not the state of the
 * sequences. A row is visible only after its sequence has assigned its id, so that concurrent writes never
 * make a sequence seem to be behind.
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
 * Moves these sequences above the existing ids. Nothing may write meanwhile, and nothing does: no process starts on
 * such a database.
 *
 * @returns the tables whose sequences were moved
 */
export async function goOnAboveBroughtIds(client: Client): Promise<readonly string[]> {
  const behind = await sequencesBehind(client);
  for (const { sequence, highest } of behind) {
    await client.query('SELECT setval($1::regclass, $2::bigint)', [sequence, highest]);
  }
  return behind.map(({ table }) => table);
}
