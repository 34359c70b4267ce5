import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../domain/errors.ts';

/** Another session has locked a row of the bet, such as a manual UPDATE left open. Nothing was written. */
export interface Locked {
  readonly kind: 'locked';
}

/** Pauses between tries: the gateway's own statements hold a row for some milliseconds. */
const TRIED_AGAIN_AFTER_MS = [5, 10, 20, 40, 80];
const THEN_EVERY_MS = 160;
/** Given up before the caller's time is over, so that the log says what was in the way. */
const TRIED_FOR_MS = 3_000;

/**
 * Writes once the bet's row is free. Statements do not wait for a locked row, because the connection and the whole
 * batch would wait with it: they skip the row, and are repeated after a pause.
 * @param write resolves to `locked` if it skipped the row and wrote nothing
 * @throws GatewayError `DATABASE_UNAVAILABLE` if the row stays locked, and as `write` does
 */
export async function whenFree<T extends { readonly kind: string }>(
  write: () => Promise<T | Locked>,
): Promise<T> {
  const endsAtMs = performance.now() + TRIED_FOR_MS;
  for (let tries = 0; ; tries += 1) {
    const written = await write();
    if (!isLocked(written)) return written;
    if (performance.now() >= endsAtMs) {
      throw new GatewayError(
        'DATABASE_UNAVAILABLE',
        "another session keeps the bet's row locked, or that of its delivery (pg_locks and pg_stat_activity say which)",
      );
    }
    await sleep(TRIED_AGAIN_AFTER_MS[tries] ?? THEN_EVERY_MS, undefined, { ref: false });
  }
}

function isLocked(written: { readonly kind: string }): written is Locked {
  return written.kind === 'locked';
}

/** The beginning of a batch: `given` is all of `:input`, `free` its bets that no other session has locked. */
const GIVEN_AND_FREE = `
  WITH given AS MATERIALIZED (
    SELECT i.* FROM :input
  ), free AS MATERIALIZED (
    SELECT transaction_id FROM bets
     WHERE transaction_id = ANY (ARRAY(SELECT transaction_id FROM given)) FOR UPDATE SKIP LOCKED
  )`;

/** The clock is read once, so that everything in a row is judged by the same time. */
const INPUT = `
    SELECT g.*, coalesce(clock_timestamp() >= g.before, false) AS is_late
      FROM given g JOIN free USING (transaction_id)`;

/**
 * The beginning of a batch of writes to bets: `input` has the rows of `:input` whose bets no other session has locked.
 * They are locked from here on, so that no later part of the statement waits.
 */
export const INPUT_OF_FREE = `${GIVEN_AND_FREE}, input AS MATERIALIZED (${INPUT}
  )`;

/**
 * The same for writes to bets and deliveries: a row with a locked delivery is not in `input` either.
 * @param touched SQL that selects, for a row `g` of `given`, the `id` of each delivery that may be written to. They
 *   are in `touched` afterwards, each with its `attempt_id`
 */
export const inputOfFree = (touched: string) => `${GIVEN_AND_FREE}, touched AS MATERIALIZED (
    SELECT g.attempt_id, d.id FROM given g CROSS JOIN LATERAL (${touched} OFFSET 0) d
  ), taken AS MATERIALIZED (
    SELECT id FROM deliveries WHERE id = ANY (ARRAY(SELECT id FROM touched)) FOR UPDATE SKIP LOCKED
  ), input AS MATERIALIZED (${INPUT}
     WHERE NOT EXISTS (SELECT FROM touched t WHERE t.attempt_id = g.attempt_id
                          AND NOT EXISTS (SELECT FROM taken WHERE taken.id = t.id))
  )`;

/** The end of a batch: returns the written rows of `bet` and the locked ones. A missing bet is in neither. */
export const WRITTEN_AND_LOCKED = `
  SELECT attempt_id, is_late, true AS is_free FROM bet
  UNION ALL
  SELECT g.attempt_id, false, false FROM given g JOIN bets b USING (transaction_id)
   WHERE NOT EXISTS (SELECT FROM input i WHERE i.attempt_id = g.attempt_id)`;
