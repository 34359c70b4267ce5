import { LEASE_END } from '../bets/lease.ts';
import { type Parameters, statement } from '../sql/statement.ts';

/** The longest that anything may wait. Above what any configuration allows: replicas may have different ones. */
interface LongestWaits {
  readonly leaseMs: number;
  readonly deliveryMs: number;
  readonly confirmationMs: number;
}

export interface Pulling {
  readonly waits: LongestWaits;
  /** By this process's clock. */
  readonly now: Date;
  /** At most so many bets, and as many deliveries. */
  readonly limit: number;
}

const ofBoth = {
  now: ['timestamptz', ({ now }: Pulling) => now],
  limit: ['int', ({ limit }: Pulling) => limit],
} satisfies Parameters<Pulling>;

const BEYOND_LEASE = 'statement_timestamp() + make_interval(secs => :lease_seconds)';
/**
 * The later of both clocks. What something is due by is PostgreSQL's clock alone, and may be pulled to it; but what counts
 * from when something happened must not be moved back by a PostgreSQL whose clock is behind, after a failover say.
 */
const PRESENT = 'greatest(statement_timestamp(), :now)';
const BEYOND_CONFIRMATION = `${PRESENT} + make_interval(secs => :seconds)`;

/**
 * Leases and confirmations. A lease begins anew: by then its owner's has passed, whatever the clock said meanwhile.
 * The sweep decides when a confirmation is really due.
 */
export const PULL_BETS = statement(
  'bet-pull-from-future',
  {
    ...ofBoth,
    lease_seconds: ['float8', ({ waits }) => waits.leaseMs / 1000],
    seconds: ['float8', ({ waits }) => waits.confirmationMs / 1000],
  } satisfies Parameters<Pulling>,
  `
  WITH ahead AS (
    (SELECT transaction_id FROM bets WHERE busy_until > ${BEYOND_LEASE}
      ORDER BY busy_until DESC LIMIT :limit)
    UNION
    (SELECT transaction_id FROM bets WHERE confirm_at > ${BEYOND_CONFIRMATION}
      ORDER BY confirm_at DESC LIMIT :limit)
  ), free AS (
    SELECT transaction_id FROM bets
     WHERE transaction_id = ANY (ARRAY(SELECT transaction_id FROM ahead LIMIT :limit))
       FOR UPDATE SKIP LOCKED
  )
  UPDATE bets
     SET busy_until = CASE WHEN busy_until > ${BEYOND_LEASE} THEN ${LEASE_END} ELSE busy_until END,
         late_at = CASE WHEN late_at > ${PRESENT} THEN ${PRESENT} ELSE late_at END,
         confirm_at = CASE WHEN confirm_at > ${BEYOND_CONFIRMATION} THEN ${PRESENT} ELSE confirm_at END
   WHERE transaction_id = ANY (ARRAY(SELECT transaction_id FROM free))
  RETURNING transaction_id`,
  (row) => row.text('transaction_id'),
);

const BEYOND_BACKOFF = 'statement_timestamp() + make_interval(secs => :seconds)';

/** Deliveries become due; the age and horizon of those that were promised by a clock that was ahead begin now. */
export const PULL_DELIVERIES = statement(
  'delivery-pull-from-future',
  {
    ...ofBoth,
    seconds: ['float8', ({ waits }) => waits.deliveryMs / 1000],
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
           AND next_attempt_at > ${BEYOND_BACKOFF}
         ORDER BY next_attempt_at DESC LIMIT :limit) d
     WHERE latest.next_attempt_at > ${BEYOND_BACKOFF}
     -- Of all operators together: its rows are locked while it runs, and callbacks do not wait for them.
     LIMIT :limit
  ), free AS (
    SELECT id FROM deliveries WHERE id = ANY (ARRAY(SELECT id FROM ahead)) FOR UPDATE SKIP LOCKED
  )
  UPDATE deliveries
     SET next_attempt_at = CASE WHEN next_attempt_at > ${BEYOND_BACKOFF} THEN statement_timestamp()
                                ELSE next_attempt_at END,
         dead_at = CASE WHEN created_at > ${PRESENT} THEN ${PRESENT} + (dead_at - created_at)
                        ELSE dead_at END,
         created_at = least(created_at, ${PRESENT})
   WHERE id = ANY (ARRAY(SELECT id FROM free))
  RETURNING id`,
  (row) => row.text('id'),
);
