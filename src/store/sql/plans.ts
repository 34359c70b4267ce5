import type { ClientBase } from 'pg';
import { unreachable } from '../../domain/unreachable.ts';
import { answerOf } from './answer-of.ts';

/**
 * How a pool's connections plan their statements:
 * - `each`: a plan for each execution, by its values and the tables;
 * - `kept`: one plan per connection (`KeptPlans`), for statements that find rows by key: planning takes a third of a
 *   batch of places. Made for an empty table it would scan for ever, so it must not scan;
 * - `ordered`: nothing is sorted that an index has in order: during an outage the statistics are too old.
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

/** A plan made for a few rows reads all through an index, however fast the table grows: it is replaced after this. */
const KEPT_MS = 30_000;

/** Makes connections discard `kept` plans in time (docs/decisions/0012-prisma-and-pg.md). */
export class KeptPlans {
  /** When a connection's plans were begun, by `performance.now()`. */
  readonly #plannedAtMs = new WeakMap<ClientBase, number>();

  /** Call it before each statement. @param answerMs how long the server may take */
  async forgetOld(client: ClientBase, answerMs: number): Promise<void> {
    const nowMs = performance.now();
    const plannedAtMs = this.#plannedAtMs.get(client);
    if (plannedAtMs !== undefined && nowMs - plannedAtMs < KEPT_MS) return;
    if (plannedAtMs !== undefined) await answerOf(client, { text: 'DISCARD PLANS' }, answerMs);
    this.#plannedAtMs.set(client, nowMs);
  }
}
