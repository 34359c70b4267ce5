import type { PoolClient } from 'pg';

/**
 * How the connections of a pool plan their statements, as settings of PostgreSQL:
 * - `each`: a plan for each execution, by the values and what the tables hold;
 * - `kept`: one plan for as long as its connection keeps it (`KeptPlans`), for statements that find every
 *   row by its key. Planning takes a third of the time of a batch of places, and most of that of a result.
 *   A plan that was made while a table was empty would scan it for ever, so it must not scan at all;
 * - `ordered`: nothing is sorted that an index has in order, for statements that read the next so many. What
 *   is open in an outage has become so since the statistics were made: by what they say, all of it would be
 *   sorted to find the next few, millions each time.
 */
export const PLANS = {
  each: {},
  kept: { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' },
  ordered: {
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    enable_sort: 'off',
  },
} as const;

export type Plans = keyof typeof PLANS;

/**
 * How long a connection keeps its plans before it makes them anew. A plan that was made while a table had a few
 * rows reads all of them by an index, and would go on doing so until the next ANALYZE, however fast it grows.
 */
const KEPT_MS = 30_000;

/** Has connections with `kept` plans forget them in time (docs/decisions/0028-plans-are-kept-for-half-a-minute.md). */
export class KeptPlans {
  /** When a connection's plans were begun, by `performance.now()`. */
  readonly #plannedAtMs = new WeakMap<PoolClient, number>();

  /** To be called before each statement. Takes a sixth of a new connection, which would forget them as well. */
  async forgetOld(client: PoolClient): Promise<void> {
    const nowMs = performance.now();
    const plannedAtMs = this.#plannedAtMs.get(client);
    if (plannedAtMs !== undefined && nowMs - plannedAtMs < KEPT_MS) return;
    if (plannedAtMs !== undefined) await client.query('DISCARD PLANS');
    this.#plannedAtMs.set(client, nowMs);
  }
}
