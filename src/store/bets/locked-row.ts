import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../domain/errors.ts';
import type { Columns } from '../sql/statement.ts';

/** Another session has locked a row of the bet, such as a manual UPDATE left open. Nothing was written. */
export interface Locked {
  readonly kind: 'locked';
}

/** The fate of a batch's row. */
export type Written =
  | { readonly kind: 'written' }
  /** Its caller's time was over: nothing was written. */
  | { readonly kind: 'late' }
  /** The bet was not as the row requires: nothing was written. */
  | { readonly kind: 'unwritten' };

/** Pauses between tries: the gateway's own statements lock a row for some milliseconds. */
const TRIED_AGAIN_AFTER_MS = [5, 10, 20, 40, 80];
const THEN_EVERY_MS = 160;
/** Ends before the caller's time, so that the log names the cause. */
const TRIED_FOR_MS = 3_000;

/**
 * Writes once the bet's row is free. A statement that waits for a lock would hold up its connection and the whole
 * batch, so it skips the row, and is repeated after a pause.
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

/** Locks the bet of each row `i` of a batch; `f.is_free` is null if another session has it, or it is not there. */
const INPUT_AND_LOCKS = `:input LEFT JOIN LATERAL (
      SELECT true AS is_free FROM bets WHERE transaction_id = i.transaction_id FOR UPDATE SKIP LOCKED) f ON true`;

/** Reads the clock once, so that the whole row is judged by the same time. */
const isLate = (row: string) => `coalesce(clock_timestamp() >= ${row}.before, false)`;

/** A batch's start: rows whose bet `is_free` are locked here, so that no later part waits. Only such a row `is_late`. */
export const INPUT_WITH_LOCKS = `
  WITH input AS MATERIALIZED (
    SELECT i.*, f.is_free IS NOT NULL AS is_free, f.is_free IS NOT NULL AND ${isLate('i')} AS is_late
      FROM ${INPUT_AND_LOCKS}
  )`;

/**
 * A start for bets and deliveries: `given` is all of `:input`, and `input` its rows with no bet or delivery locked by
 * another session.
 * @param touched SQL that selects, for a row `g` of `given`, the `id` of each delivery that may be written to;
 *   `touched` then has them with their `attempt_id`
 */
export const inputOfFree = (touched: string) => `
  WITH given AS MATERIALIZED (
    SELECT i.*, f.is_free FROM ${INPUT_AND_LOCKS}
  ), touched AS MATERIALIZED (
    SELECT g.attempt_id, d.id FROM given g CROSS JOIN LATERAL (${touched} OFFSET 0) d
  ), taken AS MATERIALIZED (
    SELECT id FROM deliveries WHERE id = ANY (ARRAY(SELECT id FROM touched)) FOR UPDATE SKIP LOCKED
  ), input AS MATERIALIZED (
    SELECT g.*, ${isLate('g')} AS is_late FROM given g
     WHERE g.is_free AND NOT EXISTS (SELECT FROM touched t WHERE t.attempt_id = g.attempt_id
                                        AND NOT EXISTS (SELECT FROM taken WHERE taken.id = t.id))
  )`;

/** Whether the bet of a skipped row is there at all. */
const isThere = (row: string) =>
  `EXISTS (SELECT FROM bets b WHERE b.transaction_id = ${row}.transaction_id OFFSET 0)`;

/** The end of a batch: for each row of `given`, whether it is in `bet`, was too late, or was skipped as locked. */
export const WHAT_BECAME_OF_GIVEN = `
  SELECT g.attempt_id, bet.attempt_id IS NOT NULL AS is_written, coalesce(i.is_late, false) AS is_late,
         i.attempt_id IS NULL AND ${isThere('g')} AS is_locked
    FROM given g LEFT JOIN input i USING (attempt_id) LEFT JOIN bet USING (attempt_id)`;

/** The same for each row of `INPUT_WITH_LOCKS`. */
export const WHAT_BECAME_OF_INPUT = `
  SELECT i.attempt_id, bet.attempt_id IS NOT NULL AS is_written, i.is_late,
         NOT i.is_free AND ${isThere('i')} AS is_locked
    FROM input i LEFT JOIN bet USING (attempt_id)`;

export const whatBecame = (row: Columns) => ({
  attemptId: row.text('attempt_id'),
  isWritten: row.bool('is_written'),
  isLate: row.bool('is_late'),
  isLocked: row.bool('is_locked'),
});

/** A batch's rows, in the order of what was written. */
export function becameOf(
  written: readonly { readonly attemptId: string }[],
  rows: readonly ReturnType<typeof whatBecame>[],
): readonly (Written | Locked)[] {
  const byAttempt = new Map(rows.map((row) => [row.attemptId, row]));
  return written.map(({ attemptId }) => {
    const row = byAttempt.get(attemptId);
    if (row?.isWritten === true) return { kind: 'written' };
    if (row?.isLate === true) return { kind: 'late' };
    return { kind: row?.isLocked === true ? 'locked' : 'unwritten' };
  });
}
