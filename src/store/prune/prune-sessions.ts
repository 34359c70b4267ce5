import type { Client } from 'pg';
import { clientRows } from '../sql/client-rows.ts';
import type { PruneOptions } from './prune-options.ts';

const PLAYERS_AT_ONCE = 200;

/**
 * A session that expired, or ended and cannot be opened again. A prefixed one stays, because its wallet would
 * confirm it again; a revoked one if a request that received it has no `at`.
 */
const OVER = `(s.ended_at IS NULL AND s.expires_at < $1::timestamptz
   OR s.ended_at < least($1::timestamptz, clock_timestamp() - interval '1 hour') AND s.given_dated IS NOT NULL
      AND (s.ended_reason <> 'revoked' OR s.given_to <@ s.given_dated))`;

/** Whether a cashout of a bet `b` may be sent again. The session that asked for it may be any of its player's. */
const REPEATS_CASHOUT = `(b.settlement = 'unknown' OR b.settlement_type = 'cashout' AND b.confirm_at IS NOT NULL)`;

/** Sessions that no bet needs: that of its place, or of an unconfirmed cashout's first attempt. */
const UNNEEDED = `
  WITH player AS MATERIALIZED (
    SELECT id FROM players WHERE id > $2 ORDER BY id LIMIT $3
  ), old AS MATERIALIZED (
    SELECT s.id, s.player_id FROM player p CROSS JOIN LATERAL (
      SELECT s.id, s.player_id FROM sessions s WHERE s.player_id = p.id AND ${OVER} OFFSET 0) s
  ), needed AS MATERIALIZED (
    SELECT DISTINCT b.session_id, CASE WHEN b.repeats_cashout THEN b.player_id END AS player_id
      FROM (SELECT DISTINCT player_id FROM old) p CROSS JOIN LATERAL (
        SELECT b.session_id, b.player_id, ${REPEATS_CASHOUT} AS repeats_cashout FROM bets b
         WHERE b.player_id = p.player_id AND b.place <> 'in_flight' OFFSET 0) b
    UNION SELECT session_id, NULL FROM bets WHERE busy_until IS NOT NULL
  ), unneeded AS MATERIALIZED (
    SELECT o.id FROM old o
     WHERE NOT EXISTS (SELECT 1 FROM needed n WHERE n.session_id = o.id)
       AND NOT EXISTS (SELECT 1 FROM needed n WHERE n.player_id = o.player_id)
  )`;

/** A session being renewed stays. No later one gets a deleted one's ordinal: it would have the same token. */
const DELETING = `, gone AS (
    DELETE FROM sessions s USING unneeded u WHERE s.id = u.id AND ${OVER}
    RETURNING s.player_id, s.ordinal
  ), used AS (
    UPDATE players p SET pruned_ordinal = g.ordinal
      FROM (SELECT player_id, max(ordinal) AS ordinal FROM gone GROUP BY 1) g
     WHERE p.id = g.player_id AND p.pruned_ordinal < g.ordinal
  )`;

/**
 * Deletes ended sessions that no bet needs, some players at a time. Players stay.
 * @returns how many; in a dry run, sessions whose bets would be deleted are not counted
 */
export async function pruneSessions(client: Client, options: PruneOptions): Promise<number> {
  let pruned = 0;
  for (let after = '0'; ; ) {
    const [batch] = await clientRows(
      client,
      `${UNNEEDED}${options.isDryRun ? '' : DELETING}
       SELECT (SELECT max(id)::text FROM player) AS last,
              (SELECT count(*)::int FROM ${options.isDryRun ? 'unneeded' : 'gone'}) AS pruned`,
      [options.before, after, PLAYERS_AT_ONCE],
      (row) => ({ last: row.textOrNull('last'), pruned: row.int('pruned') }),
    );
    if (batch?.last === undefined) return pruned;
    pruned += batch.pruned;
    if (batch.pruned > 0) options.log(`${pruned} sessions pruned`);
    after = batch.last;
  }
}
