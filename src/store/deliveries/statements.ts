import { IS_PLACE_UNRESOLVED } from '../bets/ended.ts';
import { LEASE_END } from '../bets/lease.ts';
import { isSameAmount } from '../sql/amount-text.ts';
import { noRow, type Parameters, statement } from '../sql/statement.ts';
import { isOpen } from './open-of-bet.ts';
import { claimedOf } from './taken.ts';

/**
 * A delivery `d` of a bet `b` that may be sent once it is due. Due times are compared with
 * `statement_timestamp()`, which is constant within a statement: only then can PostgreSQL stop the index scan there.
 */
const READY = `d.operator_id = :operator_id AND d.state = 'pending' AND b.busy_attempt IS NULL
       -- Money operations of a bet go in order; updates block nothing.
       AND (d.operation = 'update' OR NOT EXISTS (
             SELECT 1 FROM deliveries e
              WHERE e.transaction_id = d.transaction_id AND ${isOpen('e')}
                AND e.operation <> 'update' AND e.id - d.id < 0 OFFSET 0))`;

/** Whether the bet belongs to another wallet than the configured one: the SQL of `isOfOtherWallet` (0: not known). */
const FOREIGN = `(CASE WHEN b.generation IN (0, :generation)
       THEN EXISTS (SELECT FROM operator_holds h WHERE h.operator_id = :operator_id
                       AND h.released >= b.generation AND h.released_to > :generation)
       ELSE NOT EXISTS (SELECT FROM operator_holds h WHERE h.operator_id = :operator_id
                           AND h.released >= greatest(b.generation, :generation)
                           AND h.released_to = :generation) END)`;

/**
 * Whether the wallet holds a promised result already: what was promised before it was refused for good. A wallet that
 * keys on `requestId` would pay it twice (I5). Whatever was attempted, or a person has sent again, is sent, and so is
 * what comes after a dead letter that a person has resolved: the wallet may hold that one, put right by hand.
 */
const STANDS_ALREADY = `d.attempts = 0 AND d.resolved_by IS NULL AND b.rollback = 'none'
       AND CASE d.operation
             WHEN 'unsettle' THEN b.settlement = 'unsettled'
             WHEN 'settle' THEN b.settlement = 'settled' AND b.settlement_type = d.settle_type
               AND ${isSameAmount('b.settlement_amount', 'd.settle_amount')}
             ELSE false END
       AND NOT EXISTS (
             SELECT 1 FROM operations o JOIN deliveries r ON r.operation_id = o.id
              WHERE o.transaction_id = d.transaction_id AND o.operation IN ('settle', 'unsettle')
                AND o.id > coalesce(b.standing_operation_id, 0) AND o.id < d.operation_id
                AND r.state IS NOT DISTINCT FROM 'resolved' OFFSET 0)`;

/**
 * Whether the delivery is obsolete: an update that a later update or a rollback has overtaken (I6), a result that
 * stands already, or a confirmation of an operation that no longer stands, because a person has retried or resolved a
 * dead letter of the bet meanwhile.
 */
const OVERTAKEN = `CASE WHEN d.purpose = 'confirm' THEN b.standing_operation_id IS DISTINCT FROM d.operation_id
       WHEN d.operation = 'update' THEN b.rollback <> 'none' OR EXISTS (
             SELECT 1 FROM operations o
              WHERE o.transaction_id = d.transaction_id AND o.operation = 'update'
                AND o.id > d.operation_id AND NOT o.is_copy)
       ELSE coalesce(${STANDS_ALREADY}, false) END`;

interface Claiming {
  readonly operatorId: string;
  readonly generation: number;
  readonly limit: number;
  readonly withUpdates: boolean;
  readonly skipsUpdates: boolean;
}

const ofOperator: Parameters<{ readonly operatorId: string }> = {
  operator_id: ['text', ({ operatorId }) => operatorId],
};

/**
 * Claims due deliveries: marks each one's bet busy and counts an attempt. The same statement deals with those that must
 * not be sent: deliveries of other wallets' bets become held, overtaken ones superseded, and so do updates that were
 * promised before anybody knew that this wallet takes none (`updates: skip`). Always returns a row, whose
 * `at` says how many were read.
 */
export const TAKE = statement(
  'delivery-take',
  {
    ...ofOperator,
    generation: ['int', ({ generation }) => generation],
    limit: ['int', ({ limit }) => limit],
    with_updates: ['bool', ({ withUpdates }) => withUpdates],
    skips_updates: ['bool', ({ skipsUpdates }) => skipsUpdates],
  } satisfies Parameters<Claiming>,
  `
  WITH due AS (
    SELECT d.id, d.transaction_id, d.operation, d.purpose,
           :skips_updates AND d.operation = 'update' OR ${OVERTAKEN} AS overtaken,
           ${FOREIGN} AS is_foreign, b.generation BETWEEN 1 AND :generation - 1 AS is_older
      FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
     WHERE ${READY}
       AND d.next_attempt_at <= statement_timestamp()
       -- Held by a person: read here, so that no process relies on what it read a second ago.
       AND NOT EXISTS (SELECT 1 FROM operator_holds h
                        WHERE h.operator_id = :operator_id AND h.hold_since IS NOT NULL)
       AND (:with_updates OR d.operation <> 'update')
     ORDER BY d.next_attempt_at
     LIMIT :limit
       -- Locks bet and delivery at once, without waiting: callbacks lock a bet first, then its deliveries.
       FOR UPDATE OF b, d SKIP LOCKED
  ), postponed AS (
    -- Postponed, so that a hundred thousand of them are not read again at every look. Bets of a newer wallet
    -- wait for less time: another process may have that wallet's configuration already. One of no known wallet is
    -- foreign only where a newer one has been released.
    UPDATE deliveries
       SET held = true,
           next_attempt_at = clock_timestamp()
             + CASE WHEN id = ANY (ARRAY(SELECT id FROM due WHERE is_older)) THEN interval '10 minutes'
                    ELSE interval '1 minute' END
     WHERE id = ANY (ARRAY(SELECT id FROM due WHERE is_foreign))
  ), superseded AS (
    UPDATE deliveries SET state = 'superseded', settled_at = clock_timestamp()
     WHERE id = ANY (ARRAY(SELECT id FROM due WHERE overtaken AND NOT is_foreign))
  ), chosen AS (
    SELECT DISTINCT ON (transaction_id) id, transaction_id, operation, purpose,
           gen_random_uuid() AS attempt_id
      FROM due WHERE NOT overtaken AND NOT is_foreign
     ORDER BY transaction_id, operation = 'update', id
  ), bet AS (
    UPDATE bets b
       SET busy_operation = CASE c.purpose WHEN 'confirm' THEN 'confirm' ELSE c.operation END,
           busy_attempt = c.attempt_id, busy_until = ${LEASE_END}, version = b.version + 1,
           -- From now on it is in the books of the wallet that is asked.
           generation = coalesce(nullif(b.generation, 0), :generation)
      FROM chosen c
     WHERE b.transaction_id = c.transaction_id AND b.busy_attempt IS NULL
    RETURNING b.transaction_id, b.operator_id, b.player_id, b.session_id, b.amount, b.currency,
              b.place, b.place_time, b.place_code, b.place_message,
              b.rollback, b.rollback_time, b.rollback_code, b.rollback_message,
              b.settlement, b.settlement_amount, b.settlement_type, b.settlement_time,
              b.late_kind, b.late_amount, b.late_type, b.late_at, b.confirm_left,
              c.id AS delivery_id, c.attempt_id
  ), taken AS (
    UPDATE deliveries d
       SET attempts = d.attempts + 1, next_attempt_at = ${LEASE_END}, held = false
      FROM bet
     -- IS NOT DISTINCT FROM forces a look-up by id: a kept plan would scan the whole index of open deliveries.
     WHERE d.id = bet.delivery_id AND d.state IS NOT DISTINCT FROM 'pending'
    RETURNING d.*
  )
  SELECT looked.at, t.*
    FROM (SELECT count(*)::int AS at FROM due) looked
    LEFT JOIN (
      SELECT t.id, t.operation, t.purpose, t.transaction_id, t.operation_id, bet.attempt_id,
             t.attempts, t.created_at, t.transaction_time, o.body,
             t.resolved_by IS NOT NULL AS sent_once_more,
             bet.operator_id, bet.player_id, p.user_id, p.operator_user, bet.session_id,
             bet.amount, bet.currency, s.operator_token, s.token_hash, bet.place, bet.place_time, bet.place_code, bet.place_message,
             bet.rollback, bet.rollback_time, bet.rollback_code, bet.rollback_message,
             bet.settlement, bet.settlement_amount, bet.settlement_type, bet.settlement_time,
             bet.late_kind, bet.late_amount, bet.late_type,
             extract(epoch FROM bet.late_at)::float8 * 1000 AS late_at_ms, bet.confirm_left,
             -- Not looked for: whoever holds a claimed delivery decides on no confirmation.
             false AS is_confirming,
             clock_timestamp() > t.dead_at
               + make_interval(secs => (coalesce(h.held_ms, 0) - t.held_ms) / 1000.0) AS overdue
        FROM taken t
        JOIN bet ON bet.delivery_id = t.id
        JOIN operations o ON o.id = t.operation_id
        JOIN players p ON p.id = bet.player_id
        LEFT JOIN sessions s ON s.id = bet.session_id
        LEFT JOIN operator_holds h ON h.operator_id = t.operator_id
    ) t ON true`,
  (row) => ({ lookedAt: row.int('at'), ...(row.isNull('id') ? {} : claimedOf(row)) }),
);

/** When each operator's next delivery is due: one probe of the index per operator, however many rows each has. */
export const DUE_OPERATORS = statement(
  'delivery-open-operators',
  {},
  `
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
  SELECT operator_id, extract(epoch FROM next_attempt_at)::float8 * 1000 AS next_at_ms,
         extract(epoch FROM next_attempt_at - clock_timestamp())::float8 * 1000 AS next_in_ms
    FROM open`,
  (row) => ({
    operatorId: row.text('operator_id'),
    nextAtMs: row.int('next_at_ms'),
    nextInMs: row.int('next_in_ms'),
  }),
);

/** Makes deliveries due that wait for their back-off, because the operator takes calls again. */
export const WAKE = statement(
  'delivery-wake',
  {
    ...ofOperator,
    limit: ['int', ({ limit }) => limit],
  } satisfies Parameters<{ readonly operatorId: string; readonly limit: number }>,
  `
  WITH later AS (
    SELECT d.id FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
     WHERE d.operator_id = :operator_id AND d.state = 'pending'
       AND d.next_attempt_at > statement_timestamp() AND b.busy_attempt IS NULL AND NOT d.held
       -- A confirmation waits on purpose, not because the wallet was unavailable.
       AND d.purpose = 'promise'
     ORDER BY d.next_attempt_at LIMIT :limit FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE deliveries SET next_attempt_at = statement_timestamp()
   WHERE id = ANY (ARRAY(SELECT id FROM later)) RETURNING id`,
  (row) => row.text('id'),
);

/** Makes the operator's next delivery due, so that a half-open breaker has a call to test. */
export const NUDGE = statement(
  'delivery-nudge',
  {
    ...ofOperator,
    generation: ['int', ({ generation }) => generation],
  } satisfies Parameters<{ readonly operatorId: string; readonly generation: number }>,
  `
  WITH next AS (
    SELECT d.id FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
     WHERE ${READY} AND NOT d.held AND NOT ${FOREIGN}
       AND d.operation <> 'update' AND d.purpose = 'promise'
     ORDER BY d.next_attempt_at LIMIT 1 FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE deliveries SET next_attempt_at = least(next_attempt_at, clock_timestamp())
   WHERE id = ANY (ARRAY(SELECT id FROM next))`,
  noRow,
);

/** Places that should have been rolled back by now, each with the request that was sent. */
export const OVERDUE_UNKNOWN = statement(
  'delivery-overdue-unknown',
  {
    operator_ids: ['text[]', ({ ages }) => [...ages.keys()]],
    ages_seconds: ['float8[]', ({ ages }) => [...ages.values()].map((ageMs) => ageMs / 1000)],
    limit: ['int', ({ limit }) => limit],
  } satisfies Parameters<{ readonly ages: ReadonlyMap<string, number>; readonly limit: number }>,
  `
  SELECT b.transaction_id, o.body
    FROM bets b
    JOIN unnest(:operator_ids, :ages_seconds) AS age(operator_id, seconds)
      ON age.operator_id = b.operator_id
    -- The last one is the one that was sent: earlier places with other tokens may have been refused.
    JOIN LATERAL (SELECT body FROM operations
                   WHERE transaction_id = b.transaction_id AND operation = 'place' AND NOT is_copy
                   ORDER BY id DESC LIMIT 1) o ON true
   WHERE ${IS_PLACE_UNRESOLVED}
     AND b.created_at < statement_timestamp() - make_interval(secs => age.seconds)
   ORDER BY b.created_at LIMIT :limit`,
  (row) => ({ transactionId: row.text('transaction_id'), body: row.bytes('body') }),
);
