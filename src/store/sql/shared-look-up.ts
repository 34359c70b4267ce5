import type { Database } from '../database.ts';
import { Batcher } from './batcher.ts';
import { BATCHING } from './batching.ts';
import { type TypedStatement, UnreadableRow } from './statement.ts';

/** The row of a key, or undefined. @throws GatewayError `DATABASE_UNAVAILABLE` */
export type LookUp<Row> = (key: string) => Promise<Row | undefined>;

/**
 * Looks up rows by their keys: look-ups at the same moment share a statement.
 * @param statement finds the rows of any number of keys
 */
export function sharedLookUp<Row>(
  database: Database,
  statement: TypedStatement<readonly string[], Row>,
  keyOf: (row: Row) => string,
): LookUp<Row> {
  const lookUps = new Batcher<string, { readonly row: Row | undefined }>({
    ...BATCHING,
    // A row that this release cannot read fails only the look-up of its key.
    isRowError: (error) => error instanceof UnreadableRow || BATCHING.isRowError(error),
    run: async (keys) => {
      const found = await database.run(statement, keys);
      const rows = new Map(found.map((row) => [keyOf(row), row]));
      return keys.map((key) => ({ row: rows.get(key) }));
    },
  });
  return async (key) => (await lookUps.add(key)).row;
}
