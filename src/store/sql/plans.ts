import type { ClientBase } from 'pg';
import { unreachable } from '../../domain/unreachable.ts';
import { answerOf } from './answer-of.ts';

/**
 * How the connections of a pool plan their statements, as settings of PostgreSQL:
 * - `each`: a plan for each execution, by its values and the contents of the tables;
 * - `kept`: one plan for as long as its connection keeps it (`KeptPlans`), for statements that find every
 *   row by its key. Planning takes a third of the time of a batch of places, and most of that of a result.
 *   A plan that was made while a table was empty would scan it forever, so it must not scan at all;
 * - `ordered`: nothing is sorted that an index has in order, for statements that read the next few rows. During an
 *   outage the statistics are older than the open rows: relying on them, PostgreSQL would sort millions of rows
 *   each time to find the next few.
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

/** The settings with which a statement of some plans runs on a connection of others; undefined if it needs none. */
export function settingsOn(
  connection: Plans,
  plans: Plans,
): Readonly<Record<string, string>> | undefined {
  if (plans === connection) return undefined;
  switch (plans) {
    case 'kept':
      // A plan for each execution is never worse, it only takes longer to make.
      return undefined;
    case 'each':
    case 'ordered':
      return { plan_cache_mode: 'force_custom_plan', enable_seqscan: 'on', ...PLANS[plans] };
    default:
      return unreachable(plans);
  }
}

/**
 * How long a connection keeps its plans before it makes new ones. A plan that was made while a table had a few
 * rows reads all rows through an index, and would do so until the next ANALYZE, however fast the table grows.
 */
const KEPT_MS = 30_000;

/** Makes connections discard `kept` plans in time (docs/decisions/0012-prisma-and-pg.md). */
export class KeptPlans {
  /** When a connection's plans were begun, by `performance.now()`. */
  readonly #plannedAtMs = new WeakMap<ClientBase, number>();

  /**
   * Call it before each statement. Costs a sixth of a new connection, which would discard the plans as well.
   * @param answerMs how long the server may take
   */
  async forgetOld(client: ClientBase, answerMs: number): Promise<void> {
    const nowMs = performance.now();
    const plannedAtMs = this.#plannedAtMs.get(client);
    if (plannedAtMs !== undefined && nowMs - plannedAtMs < KEPT_MS) return;
    if (plannedAtMs !== undefined) await answerOf(client, { text: 'DISCARD PLANS' }, answerMs);
    this.#plannedAtMs.set(client, nowMs);
  }
}
