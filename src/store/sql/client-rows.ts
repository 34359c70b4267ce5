import type { SqlValue } from './sql-value.ts';
import { Columns } from './statement.ts';

/** What a connection is to those who only run statements on it: a client of `pg` is one. */
export interface Connection {
  query(
    text: string,
    values: unknown[],
  ): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
}

/**
 * Runs one statement on its caller's connection and decodes the rows. @param values of `$1`, `$2` and so on
 * @throws Error of `pg`; UnreadableRow
 */
export async function clientRows<Row>(
  client: Connection,
  text: string,
  values: readonly SqlValue[],
  decode: (columns: Columns) => Row,
): Promise<Row[]> {
  const { rows } = await client.query(text, [...values]);
  return rows.map((row) => decode(new Columns(row)));
}
