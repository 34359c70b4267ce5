import type { Client } from 'pg';
import { clientRows } from '../sql/client-rows.ts';
import type { PruneOptions } from './prune-options.ts';

/** Calls per statement; each may have issued a thousand bonuses. */
const CALLS_AT_ONCE = 500;

/** Closed, and not needed for an open create: its template must not be taken for another's. */
const CLOSED = `i.state <> 'open' AND i.closed_at < $1::timestamptz
       AND NOT (i.kind = 'create' AND EXISTS (
         SELECT 1 FROM bonus_intents o
          WHERE o.upstream_cid = i.upstream_cid AND o.state = 'open' AND o.kind = 'create'
            AND o.above_id < i.template_id))`;

/**
 * Deletes closed calls of the bonus API with their answers. Owners of templates and bonuses, and open calls, are
 * kept. @returns how many calls
 */
export async function pruneBonusCalls(
  client: Client,
  { before, isDryRun }: PruneOptions,
): Promise<number> {
  for (let pruned = 0, after = '0'; ; ) {
    const [batch] = await clientRows(
      client,
      `WITH looked AS (
         SELECT i.id, ${CLOSED} AS closed FROM bonus_intents i
          WHERE i.id > $2 ORDER BY i.id LIMIT $3
       )${isDryRun ? '' : DELETING}
       SELECT max(id) AS last, count(*) FILTER (WHERE closed)::int AS pruned FROM looked`,
      [before, after, CALLS_AT_ONCE],
      (row) => ({ last: row.textOrNull('last'), pruned: row.int('pruned') }),
    );
    if (batch?.last === undefined) return pruned;
    pruned += batch.pruned;
    after = batch.last;
  }
}

const DELETING = `, gone AS (
         DELETE FROM bonus_intents i USING looked l WHERE l.closed AND i.id = l.id
         RETURNING i.id
       ), grants_gone AS (
         DELETE FROM bonus_grants g USING gone WHERE g.intent_id = gone.id
       )`;
