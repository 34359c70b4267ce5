import type { Client } from 'pg';
import { positionOf } from '../books/position.ts';
import { clientRows } from '../sql/client-rows.ts';

/** A month of the journal, `2026-05`, with its own tables. */
export interface PrunedTables {
  readonly month: string;
  readonly operations: string;
  readonly attempts: string;
}

/** A bet with an outcome that the books have not read yet, and would lose with a month. */
export interface Unbooked {
  readonly transactionId: string;
  readonly operatorId: string | null;
}

/** Bets with an unread outcome that is deleted with a month, or whose operation is, as of an old promise. */
export async function unbookedOf(
  client: Client,
  { month, operations, attempts }: PrunedTables,
  limit: number,
): Promise<readonly Unbooked[]> {
  const [booked] = await clientRows(
    client,
    'SELECT written_in::text, operation_id, number FROM books_cursor',
    [],
    positionOf,
  );
  if (booked === undefined) return [];
  const { writtenIn, operationId, number } = booked;
  const unread = `a.confirmed
        AND (a.written_in, a.operation_id, a.number) > ($1::xid8, $2::bigint, $3::int)`;
  return await clientRows(
    client,
    `SELECT o.transaction_id, o.operator_id
       FROM ${attempts} a JOIN operations o ON o.id = a.operation_id WHERE ${unread}
      UNION
     SELECT o.transaction_id, o.operator_id
       FROM attempts a JOIN ${operations} o ON o.id = a.operation_id
      WHERE ${unread} AND (a.started_at < $4 OR a.started_at >= $5)
      ORDER BY 1 LIMIT $6`,
    [writtenIn, operationId, number, ...boundsOf(month), limit],
    (row) => ({
      transactionId: row.text('transaction_id'),
      operatorId: row.textOrNull('operator_id') ?? null,
    }),
  );
}

/**
 * The newest outcome that cannot be proved once a month is deleted: it is deleted, or its operation is and is not
 * in `kept_operations`. The few of other months are found by the ids of the month's operations.
 */
export async function newestGone(
  client: Client,
  { month, operations, attempts }: PrunedTables,
): Promise<string | null> {
  const [ids] = await clientRows(
    client,
    `SELECT (SELECT min(id) FROM ${operations})::text AS first,
            (SELECT max(id) FROM ${operations})::text AS last`,
    [],
    (row) => ({ first: row.textOrNull('first'), last: row.textOrNull('last') }),
  );
  const [newest = null] = await clientRows(
    client,
    // Ordered by the qualified column: the bare name would mean the text, whose greatest is '999' and not '1000'.
    `SELECT gone.written_in::text FROM (
       (SELECT a.written_in FROM ${attempts} a WHERE a.confirmed
         ORDER BY a.written_in DESC, a.operation_id DESC, a.number DESC LIMIT 1)
       UNION ALL
       SELECT a.written_in FROM attempts a
        WHERE a.confirmed AND a.operation_id BETWEEN $1::bigint AND $2::bigint
          AND (a.started_at < $3 OR a.started_at >= $4)
          AND EXISTS (SELECT FROM ${operations} o WHERE o.id = a.operation_id
                         AND NOT EXISTS (SELECT FROM kept_operations k WHERE k.id = o.id))) gone
      ORDER BY gone.written_in DESC LIMIT 1`,
    [ids?.first ?? null, ids?.last ?? null, ...boundsOf(month)],
    (row) => row.text('written_in'),
  );
  return newest;
}

/** The first instants of the month and of the next. */
function boundsOf(month: string): readonly [Date, Date] {
  const from = new Date(`${month}-01T00:00:00Z`);
  return [from, new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1))];
}
