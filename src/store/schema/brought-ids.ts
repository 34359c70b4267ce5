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

/**
 * Where the ids of such a table are named: its own newest rows may be missing. Logical replication does not copy a month's
 * tables that were made after the subscription, and their ids must not be assigned to other bets. All have an index.
 */
const NAMED_IN = [
  { numbered: 'operations', table: 'deliveries', column: 'operation_id' },
  { numbered: 'operations', table: 'attempts', column: 'operation_id' },
  { numbered: 'players', table: 'sessions', column: 'player_id' },
  { numbered: 'bonus_intents', table: 'bonus_grants', column: 'intent_id' },
];

/** A sequence that would assign ids that rows already have or name. */
interface BehindSequence {
  /** Its name, quoted for a statement. */
  readonly sequence: string;
  readonly table: string;
  readonly highest: string;
}

/** The sequences that this role may use, each with where its ids are; the tables are those that our statements find. */
const SEQUENCES = `
  SELECT s.oid::regclass::text AS sequence, t.oid::regclass::text AS table,
         ARRAY(SELECT format('(SELECT max(%I) FROM %s)', place.column, place.oid::regclass)
                 FROM (SELECT a.attname AS column, t.oid AS oid
                       UNION ALL
                       SELECT named."column", to_regclass(named."table")
                         FROM json_to_recordset($2::json) AS named(numbered TEXT, "table" TEXT, "column" TEXT)
                        WHERE named.numbered = numbered.name) place
                WHERE has_column_privilege(place.oid, place.column::text, 'SELECT')) AS places
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
 * Sequences that are behind the rows of their tables, or behind what names these: logical replication copies the rows,
 * but not the state of the sequences. A row is visible only after its sequence has assigned its id, so that concurrent
 * writes never make a sequence seem to be behind.
 */
export async function sequencesBehind(client: Client): Promise<readonly BehindSequence[]> {
  const all = await clientRows(client, SEQUENCES, [NUMBERED, JSON.stringify(NAMED_IN)], (row) => ({
    sequence: row.text('sequence'),
    table: row.text('table'),
    places: row.texts('places'),
  }));
  const behind: BehindSequence[] = [];
  for (const { sequence, table, places } of all) {
    const found = await clientRows(
      client,
      `SELECT highest::text FROM (SELECT greatest(${places.join(', ')}) AS highest) ids
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
