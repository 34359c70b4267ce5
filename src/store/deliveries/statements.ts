import { LEASE_SECONDS } from '../bets/place-journal.ts';
import type { Statement } from '../database.ts';

const lease = `clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;

/**
 * A delivery `d` of a bet `b` that may be tried now. Compared with `statement_timestamp()` where an
 * index has to end the scan: PostgreSQL reads all of it to compare with a clock that goes on.
 */
const READY = `d.operator_id = $1::text AND d.state = 'pending' AND b.busy_attempt IS NULL
       -- Money in order; updates stand in nobody's way.
       AND (d.operation = 'update' OR NOT EXISTS (
             SELECT 1 FROM deliveries e
              WHERE e.transaction_id = d.transaction_id AND e.state IN ('live', 'pending')
                AND e.operation <> 'update' AND e.id < d.id))`;

/** Of a bet in the books of an older wallet, and no person has released those yet. */
const OLDER = `(greatest(b.generation, (SELECT h.released FROM operator_holds h
                                   WHERE h.operator_id = $1::text)) < $2::int)`;

/** An update that came too late: a later one, or the bet's end, has overtaken it (I6). */
const OVERTAKEN = `d.operation = 'update' AND (b.rollback <> 'none' OR EXISTS (
             SELECT 1 FROM operations o
              WHERE o.transaction_id = d.transaction_id AND o.operation = 'update'
                AND o.id > d.operation_id))`;

export const TAKE: Statement = {
  name: 'delivery-take',
  text: `
  WITH due AS (
    SELECT d.id, d.transaction_id, d.operation, ${OVERTAKEN} AS overtaken, ${OLDER} AS older
      FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
     WHERE ${READY}
       AND d.next_attempt_at <= statement_timestamp()
       AND ($4::boolean OR d.operation <> 'update')
     ORDER BY d.next_attempt_at
     LIMIT $3::int
       -- Both, and never waiting: callbacks lock a bet first and its deliveries then.
       FOR UPDATE OF b, d SKIP LOCKED
  ), postponed AS (
    -- Out of the way: a hundred thousand of them must not be read again with every look.
    UPDATE deliveries SET held = true, next_attempt_at = clock_timestamp() + interval '10 minutes'
     WHERE id = ANY (ARRAY(SELECT id FROM due WHERE older))
  ), superseded AS (
    UPDATE deliveries SET state = 'superseded', settled_at = clock_timestamp()
     WHERE id = ANY (ARRAY(SELECT id FROM due WHERE overtaken AND NOT older))
  ), chosen AS (
    SELECT DISTINCT ON (transaction_id) id, transaction_id, operation,
           gen_random_uuid() AS attempt_id
      FROM due WHERE NOT overtaken AND NOT older
     ORDER BY transaction_id, operation = 'update', id
  ), bet AS (
    UPDATE bets b
       SET busy_operation = c.operation, busy_attempt = c.attempt_id, busy_until = ${lease},
           version = b.version + 1
      FROM chosen c
     WHERE b.transaction_id = c.transaction_id AND b.busy_attempt IS NULL
    RETURNING b.transaction_id, b.operator_id, b.player_id, b.session_id, b.place,
              c.id AS delivery_id, c.attempt_id
  ), taken AS (
    UPDATE deliveries d
       SET attempts = d.attempts + 1, next_attempt_at = ${lease}, held = false
      FROM bet
     WHERE d.id = bet.delivery_id AND d.state = 'pending'
    RETURNING d.*
  )
  SELECT looked.at, t.*
    FROM (SELECT count(*)::int AS at FROM due) looked
    LEFT JOIN (
      SELECT t.id, t.operation, t.purpose, t.transaction_id, t.operation_id, bet.attempt_id,
             t.attempts, t.confirmations, t.created_at, t.transaction_time, o.body,
             bet.operator_id, bet.player_id, p.user_id, p.operator_user, bet.session_id,
             s.operator_token, s.token_hash, bet.place,
             clock_timestamp() > t.dead_at
               + make_interval(secs => (coalesce(h.held_ms, 0) - t.held_ms) / 1000.0) AS overdue
        FROM taken t
        JOIN bet ON bet.delivery_id = t.id
        JOIN operations o ON o.id = t.operation_id
        JOIN players p ON p.id = bet.player_id
        LEFT JOIN sessions s ON s.id = bet.session_id
        LEFT JOIN operator_holds h ON h.operator_id = t.operator_id
    ) t ON true`,
};

/** One probe of the index per operator (a loose scan), however many rows each of them has. */
export const DUE_OPERATORS: Statement = {
  name: 'delivery-open-operators',
  text: `
  WITH RECURSIVE open AS (
    (SELECT operator_id, next_attempt_at FROM deliveries WHERE state IN ('live', 'pending')
      ORDER BY operator_id, next_attempt_at LIMIT 1)
    UNION ALL
    SELECT following.operator_id, following.next_attempt_at
      FROM open CROSS JOIN LATERAL (
        SELECT d.operator_id, d.next_attempt_at FROM deliveries d
         WHERE d.state IN ('live', 'pending') AND d.operator_id > open.operator_id
         ORDER BY d.operator_id, d.next_attempt_at LIMIT 1) following
  )
  SELECT operator_id AS "operatorId",
         extract(epoch FROM next_attempt_at)::float8 * 1000 AS "nextAtMs",
         extract(epoch FROM next_attempt_at - clock_timestamp())::float8 * 1000 AS "nextInMs"
    FROM open`,
};

export const WAKE: Statement = {
  name: 'delivery-wake',
  text: `
  WITH later AS (
    SELECT d.id FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
     WHERE d.operator_id = $1::text AND d.state = 'pending'
       AND d.next_attempt_at > statement_timestamp() AND b.busy_attempt IS NULL AND NOT d.held
       -- A confirmation waits on purpose, not because the wallet was away.
       AND d.confirmations = 0 AND d.purpose = 'promise'
     ORDER BY d.next_attempt_at LIMIT $2::int FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE deliveries SET next_attempt_at = statement_timestamp()
   WHERE id = ANY (ARRAY(SELECT id FROM later)) RETURNING id`,
};

export const NUDGE: Statement = {
  name: 'delivery-nudge',
  text: `
  WITH next AS (
    SELECT d.id FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
     WHERE ${READY} AND NOT d.held AND NOT ${OLDER}
       AND d.operation <> 'update' AND d.confirmations = 0 AND d.purpose = 'promise'
     ORDER BY d.next_attempt_at LIMIT 1 FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE deliveries SET next_attempt_at = least(next_attempt_at, clock_timestamp())
   WHERE id = ANY (ARRAY(SELECT id FROM next))`,
};

/** Adds what passed since the last count, so that several replicas counting add it once. */
export const COUNT_HELD: Statement = {
  name: 'delivery-count-held',
  text: `
  INSERT INTO operator_holds AS h (operator_id, held_ms, counted_at)
  SELECT id, 0, clock_timestamp() FROM unnest($1::text[]) AS o(id) ORDER BY id
  ON CONFLICT (operator_id) DO UPDATE
     SET held_ms = h.held_ms
           + least(10000, greatest(0, extract(epoch FROM clock_timestamp() - h.counted_at) * 1000)),
         counted_at = clock_timestamp()`,
};

export const OVERDUE_UNKNOWN: Statement = {
  name: 'delivery-overdue-unknown',
  text: `
  SELECT b.transaction_id AS "transactionId", o.body
    FROM bets b
    JOIN unnest($1::text[], $2::float8[]) AS age(operator_id, seconds)
      ON age.operator_id = b.operator_id
    JOIN LATERAL (SELECT body FROM operations
                   WHERE transaction_id = b.transaction_id AND operation = 'place'
                   ORDER BY id LIMIT 1) o ON true
   WHERE b.place = 'unknown' AND b.rollback = 'none'
     AND b.created_at < statement_timestamp() - make_interval(secs => age.seconds)
   ORDER BY b.created_at LIMIT $3::int`,
};

/** What is open or dead: bounded by the backlog, found through the partial indexes. */
export const COUNT_OPEN: Statement = {
  name: 'delivery-count-open',
  text: `
  SELECT operator_id AS operator, operation, CASE WHEN held THEN 'held' ELSE state END AS state,
         count(*)::int AS count,
         -- What only waits to be confirmed once more is home already.
         coalesce(extract(epoch FROM clock_timestamp() - min(created_at)
                                       FILTER (WHERE confirmations = 0)), 0)::float8 AS "oldestSeconds"
    FROM deliveries WHERE state IN ('live', 'pending') GROUP BY 1, 2, 3
   UNION ALL
  SELECT operator_id, operation, state, count(*)::int,
         extract(epoch FROM clock_timestamp() - min(created_at))::float8
    FROM deliveries WHERE state = 'dead' GROUP BY 1, 2, 3`,
};

/** What came to its end in a stretch of time: ends are never left again, so they only add up. */
export const COUNT_ENDED: Statement = {
  name: 'delivery-count-ended',
  text: `
  SELECT operator_id AS operator, operation, state, count(*)::int AS count
    FROM deliveries
   WHERE state IN ('delivered', 'refused', 'superseded', 'resolved')
     AND settled_at > $1::timestamptz AND settled_at <= $2::timestamptz
   GROUP BY 1, 2, 3`,
};

export const COUNT_UNRESOLVED: Statement = {
  name: 'delivery-count-unresolved',
  text: `
  SELECT coalesce(operator_id, 'unknown') AS operator, count(*)::int AS count
    FROM bets WHERE place = 'unknown' AND rollback = 'none' GROUP BY 1`,
};

export const SERVER_TIME: Statement = {
  name: 'server-time',
  // Whatever commits later than this looks back has its place in the next stretch.
  text: `SELECT clock_timestamp() - interval '2 seconds' AS now`,
};
