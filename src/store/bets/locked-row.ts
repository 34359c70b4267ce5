import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../domain/errors.ts';

/** Somebody past the gateway has a row of the bet locked, such as an UPDATE by hand that stays open. Nothing was written. */
export interface Locked {
  readonly kind: 'locked';
}

/** The gateway's own statements hold a row for some milliseconds. */
const TRIED_AGAIN_AFTER_MS = [5, 10, 20, 40, 80];
const THEN_EVERY_MS = 160;
/** Before the caller's time is over, so that the log says what was in the way. */
const TRIED_FOR_MS = 3_000;

/**
 * Writes when the bet's row is free. A statement that waited for it would keep its connection, and whatever is
 * written by the same statement, from all other bets: so none waits, and it is sent again after a pause.
 * @param write of which a locked row makes nothing
 * @throws GatewayError `DATABASE_UNAVAILABLE` when the row stays locked, and as `write` does
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

/** The beginning of a batch: `given` is all of `:input`, `free` the bets of it that nobody else has locked. */
const GIVEN_AND_FREE = `
  WITH given AS MATERIALIZED (
    SELECT i.* FROM :input
  ), free AS MATERIALIZED (
    SELECT transaction_id FROM bets
     WHERE transaction_id = ANY (ARRAY(SELECT transaction_id FROM given)) FOR UPDATE SKIP LOCKED
  )`;

/** The clock is looked at once for all that hangs on it. */
const INPUT = `
    SELECT g.*, coalesce(clock_timestamp() >= g.before, false) AS is_late
      FROM given g JOIN free USING (transaction_id)`;

/**
 * The beginning of a batch of writes to bets: `input` is what of `:input` has a bet that nobody else has locked. It
 * is locked now, so that nothing behind it waits.
 */
export const INPUT_OF_FREE = `${GIVEN_AND_FREE}, input AS MATERIALIZED (${INPUT}
  )`;

/**
 * The same for writes to deliveries as well: what has a locked one is not in `input` either.
 * @param touched of `g`, a row of what was given: selects the `id` of its deliveries that may be written to; these
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

/** Its end: what was written, from `bet`, and what has to wait. A bet that is gone is neither. */
export const WRITTEN_AND_LOCKED = `
  SELECT attempt_id, is_late, true AS is_free FROM bet
  UNION ALL
  SELECT g.attempt_id, false, false FROM given g JOIN bets b USING (transaction_id)
   WHERE NOT EXISTS (SELECT FROM input i WHERE i.attempt_id = g.attempt_id)`;
