import type { ClientBase, QueryConfig } from 'pg';
import { withinOrArrived } from '../../lib/within.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * Runs one statement on a connection and waits for its rows, but no longer than `limitMs`: a frozen server never
 * reports its own time limit. A connection on which the time was over must be closed.
 *
 * Not by `pg`'s promise, nor by its `query_timeout`. Each writes a function where it is assigned to a property of the
 * query, and V8 creates such a function in old space. All that it refers to, here the statement's values and rows, then
 * stays until the next major collection. With two statements a place those came every few seconds and held up
 * callbacks (docs/decisions/0013-short-lived-objects.md).
 *
 * @throws OutOfTime. @throws Error of `pg`
 */
export function answerOf(
  client: ClientBase,
  query: QueryConfig,
  limitMs: number,
): Promise<readonly Row[]> {
  const answer = new Promise<readonly Row[]>((resolve, reject) => {
    client.query<Row>(query, (error: Error | null | undefined, result) => {
      if (error == null) resolve(result.rows);
      else reject(error);
    });
  });
  return withinOrArrived(limitMs, answer);
}
