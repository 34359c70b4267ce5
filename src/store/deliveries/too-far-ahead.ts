import { LEASE_END, LEASE_SECONDS } from '../bets/lease.ts';
import { type Parameters, statement } from '../sql/statement.ts';

/** The longest that anything may wait, by the settings of all operators. */
export interface LongestWaits {
  readonly deliveryMs: number;
  readonly confirmationMs: number;
}

interface Pulling extends LongestWaits {
  readonly limit: number;
}

const limit: Parameters<Pulling> = { limit: ['int', (input) => input.limit] };

const BEYOND_LEASE = `statement_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;
const BEYOND_CONFIRMATION = 'statement_timestamp() + make_interval(secs => :seconds)';

/**
 * Leases and confirmations. A lease begins anew: by then its owner's has passed, whatever the clock said meanwhile.
 * The sweep decides when a confirmation is really due.
 */
export const PULL_BETS = statement(
  'bet-pull-from-future',
  {
    ...limit,
    seconds: ['float8', ({ confirmationMs }) => confirmationMs / 1000],
  } satisfies Parameters<Pulling>,
  `
  WITH ahead AS (
    (SELECT transaction_id FROM bets WHERE busy_until > ${BEYOND_LEASE}
      ORDER BY busy_until DESC LIMIT :limit)
    UNION
    (SELECT transaction_id FROM bets WHERE confirm_at > ${BEYOND_CONFIRMATION}
      ORDER BY confirm_at DESC LIMIT :limit)
  ), free AS (
    SELECT transaction_id FROM bets WHERE transaction_id = ANY (ARRAY(SELECT transaction_id FROM ahead))
       FOR UPDATE SKIP LOCKED
  )
  UPDATE bets
     SET busy_until = CASE WHEN busy_until > ${BEYOND_LEASE} THEN ${LEASE_END} ELSE busy_until END,
         late_at = CASE WHEN late_at > statement_timestamp() THEN statement_timestamp() ELSE late_at END,
         confirm_at = CASE WHEN confirm_at > ${BEYOND_CONFIRMATION} THEN statement_timestamp()
                           ELSE confirm_at END
   WHERE transaction_id = ANY (ARRAY(SELECT transaction_id FROM free))
  RETURNING transaction_id`,
  (row) => row.text('transaction_id'),
);

/** Deliveries become due; the age and horizon of those that were promised by the wrong clock begin now. */
export const PULL_DELIVERIES = statement(
  'delivery-pull-from-future',
  {
    ...limit,
    seconds: ['float8', ({ deliveryMs }) => deliveryMs / 1000],
  } satisfies Parameters<Pulling>,
  `
  WITH RECURSIVE latest AS (
    -- The last one of each operator: one probe of the index per operator, as in the sweep.
    (SELECT operator_id, next_attempt_at FROM deliveries WHERE state IN ('live', 'pending')
      ORDER BY operator_id DESC, next_attempt_at DESC LIMIT 1)
    UNION ALL
    SELECT following.operator_id, following.next_attempt_at
      FROM latest CROSS JOIN LATERAL (
        SELECT d.operator_id, d.next_attempt_at FROM deliveries d
         WHERE d.state IN ('live', 'pending') AND d.operator_id < latest.operator_id
         ORDER BY d.operator_id DESC, d.next_attempt_at DESC LIMIT 1) following
  ), ahead AS (
    SELECT d.id
      FROM latest CROSS JOIN LATERAL (
        SELECT id FROM deliveries
         WHERE operator_id = latest.operator_id AND state IN ('live', 'pending')
           AND next_attempt_at > statement_timestamp() + make_interval(secs => :seconds)
         ORDER BY next_attempt_at DESC LIMIT :limit) d
     WHERE latest.next_attempt_at > statement_timestamp() + make_interval(secs => :seconds)
  ), free AS (
    SELECT id FROM deliveries WHERE id = ANY (ARRAY(SELECT id FROM ahead)) FOR UPDATE SKIP LOCKED
  )
  UPDATE deliveries
     SET next_attempt_at = statement_timestamp(),
         dead_at = CASE WHEN created_at > statement_timestamp()
                        THEN statement_timestamp() + (dead_at - created_at) ELSE dead_at END,
         created_at = least(created_at, statement_timestamp())
   WHERE id = ANY (ARRAY(SELECT id FROM free))
  RETURNING id`,
  (row) => row.text('id'),
);
