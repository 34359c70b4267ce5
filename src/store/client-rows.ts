import type { ClientBase } from 'pg';
import type { SqlValue } from './sql-value.ts';
import { Columns } from './statement.ts';

/**
 * Runs one statement on a connection that its caller holds, its rows decoded.
 * @param values of `$1`, `$2` and so on
 * @throws Error of `pg`; `UnreadableRow` where a row means something that this release does not know
 */
export async function clientRows<Row>(
  client: ClientBase,
  text: string,
  values: readonly SqlValue[],
  decode: (columns: Columns) => Row,
): Promise<Row[]> {
  const { rows } = await client.query<Record<string, unknown>>(text, [...values]);
  return rows.map((row) => decode(new Columns(row)));
}
