import type { ClientBase, QueryConfig } from 'pg';
import { withinOrArrived } from '../../lib/within.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * Runs one statement, but waits no longer than `limitMs`: a frozen server never reports its own limit. The
 * connection must then be closed. Not by `pg`'s promise or `query_timeout`, whose functions in V8's old space keep
 * all values until a major collection (docs/decisions/0013-short-lived-objects.md).
 * @throws OutOfTime; Error of `pg`
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
