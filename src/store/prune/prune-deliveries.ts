import type { Client } from 'pg';
import { clientRows } from '../sql/client-rows.ts';
import type { PruneOptions } from './prune-options.ts';

const ROWS_AT_ONCE = 5_000;

/** Deletes ended deliveries, but none that says that a bet's present result was resolved by a person. */
export async function pruneDeliveries(client: Client, options: PruneOptions): Promise<number> {
  const { before, isDryRun, log } = options;
  const ended = `state IN ('delivered', 'refused', 'superseded', 'resolved')
                 AND settled_at < $1::timestamptz
                 AND (state <> 'resolved' OR NOT EXISTS (
                       SELECT FROM bets b WHERE b.transaction_id = deliveries.transaction_id
                          AND b.standing_operation_id = deliveries.operation_id))`;
  if (isDryRun) {
    const [count = 0] = await clientRows(
      client,
      `SELECT count(*)::int AS count FROM deliveries WHERE ${ended}`,
      [before],
      (row) => row.int('count'),
    );
    return count;
  }
  for (let pruned = 0; ; log(`${pruned} ended deliveries pruned`)) {
    const { rowCount } = await client.query(
      `DELETE FROM deliveries WHERE id = ANY (ARRAY(
         SELECT id FROM deliveries WHERE ${ended} ORDER BY settled_at LIMIT $2))`,
      [before, ROWS_AT_ONCE],
    );
    pruned += rowCount ?? 0;
    if ((rowCount ?? 0) < ROWS_AT_ONCE) return pruned;
  }
}
