import {
  type AttemptedResult,
  type Bet,
  type BetOwner,
  type Busy,
  RESULT_TYPES,
} from '../../domain/bet.ts';
import type { ClaimDecision, DueDelivery } from '../../domain/claim.ts';
import { DELIVERY_PURPOSES } from '../../domain/delivery.ts';
import { DELIVERABLE_OPERATIONS, type DeliverableOperation } from '../../domain/operation.ts';
import { LEASE_END, LEASE_SECONDS } from '../bets/lease.ts';
import { BET_COLUMNS, betOf } from '../bets/rows.ts';
import { type Columns, type Parameters, statement, UnreadableRow } from '../sql/statement.ts';
import { heldMs } from './held-time.ts';
import { READY } from './statements.ts';

/** A delivery that this process has claimed, with everything its call needs. */
export interface TakenDelivery extends DueDelivery {
  readonly id: string;
  readonly transactionId: string;
  /** Only the attempt recorded in the bet's row under this id may finish. */
  readonly attemptId: string;
  /** Including this one. */
  readonly attempts: number;
  /** Its horizon is over: this attempt is the last one. */
  readonly isOverdue: boolean;
  readonly createdAt: Date;
  /** When the promise was made: the time in the service's answer. */
  readonly transactionTime: string;
  /** As the service sent it. */
  readonly body: Buffer;
  readonly owner: BetOwner;
  /** The stored operator's token of the bet's session, with the hash that it is bound to. */
  readonly sealedToken: { readonly sealed: Buffer; readonly tokenHash: Buffer } | undefined;
  /** As the claim wrote it: busy with this attempt. */
  readonly bet: Bet;
}

/** A due delivery before its claim. */
export type SeenDelivery = Omit<TakenDelivery, 'attemptId' | 'isOverdue'>;

interface Looking {
  readonly operatorId: string;
  readonly limit: number;
  readonly withUpdates: boolean;
}

/**
 * Due deliveries of free bets, in order of their due times, with all facts for the decision. Locks nothing. `OFFSET 0`:
 * related rows are found by key, whatever the statistics say of those that wait.
 */
export const LOOK = statement(
  'delivery-look',
  {
    operator_id: ['text', ({ operatorId }) => operatorId],
    limit: ['int', ({ limit }) => limit],
    with_updates: ['bool', ({ withUpdates }) => withUpdates],
  } satisfies Parameters<Looking>,
  `
  SELECT d.id, d.operation, d.purpose, d.operation_id, d.attempts, d.settle_amount, d.settle_type,
         d.created_at, d.transaction_time, d.resolved_by IS NOT NULL AS sent_once_more,
         d.operation = 'update' AND EXISTS (
           SELECT FROM operations o
            WHERE o.transaction_id = d.transaction_id AND o.operation = 'update'
              AND o.id - d.operation_id > 0 AND NOT o.is_copy) AS has_later_update,
         d.operation IN ('settle', 'unsettle') AND EXISTS (
           SELECT FROM operations o JOIN deliveries r ON r.operation_id = o.id
            WHERE o.transaction_id = d.transaction_id AND o.operation IN ('settle', 'unsettle')
              AND o.id - coalesce(b.standing_operation_id, 0) > 0 AND o.id - d.operation_id < 0
              AND r.state IS NOT DISTINCT FROM 'resolved' OFFSET 0) AS follows_resolved,
         (SELECT o.body FROM operations o WHERE o.id = d.operation_id) AS body,
         s.operator_token, s.token_hash, ${BET_COLUMNS}
    FROM deliveries d
    JOIN bets b ON b.transaction_id = d.transaction_id
    LEFT JOIN LATERAL (SELECT * FROM players WHERE id = b.player_id OFFSET 0) p ON true
    LEFT JOIN LATERAL (SELECT * FROM sessions WHERE id = b.session_id OFFSET 0) s ON true
   WHERE ${READY}
     AND d.next_attempt_at <= statement_timestamp() AND (:with_updates OR d.operation <> 'update')
   ORDER BY d.next_attempt_at
   LIMIT :limit`,
  // Decoded one by one: an unreadable row must not fail the claim of the others.
  (row) => row,
);

/** @throws UnreadableRow if the row has a value that this release does not know */
export function seenOf(row: Columns): SeenDelivery {
  const bet = betOf(row);
  const { owner } = bet;
  if (owner === undefined) throw new UnreadableRow('operator_id', null, 'an operator');
  const operation = row.oneOf('operation', DELIVERABLE_OPERATIONS);
  const sealed = row.bytesOrNull('operator_token');
  const tokenHash = row.bytesOrNull('token_hash');
  return {
    id: row.text('id'),
    operation,
    purpose: row.oneOf('purpose', DELIVERY_PURPOSES),
    transactionId: bet.transactionId,
    operationId: row.text('operation_id'),
    attempts: row.int('attempts'),
    isSentOnceMore: row.bool('sent_once_more'),
    createdAt: row.date('created_at'),
    transactionTime: row.text('transaction_time'),
    body: row.bytes('body'),
    owner,
    sealedToken: sealed && tokenHash && { sealed, tokenHash },
    bet,
    result: resultOf(row, operation),
    hasLaterUpdate: row.bool('has_later_update'),
    followsResolved: row.bool('follows_resolved'),
  };
}

function resultOf(row: Columns, operation: DeliverableOperation): AttemptedResult | undefined {
  if (operation === 'unsettle') return { kind: 'unsettle' };
  const amount = row.textOrNull('settle_amount');
  const resultType = row.oneOfOrNull('settle_type', RESULT_TYPES);
  if (amount === undefined || resultType === undefined) return undefined;
  return { kind: 'settle', amount, resultType };
}

/** A decision about a due delivery; its bet is written only if it is as it was read. */
export interface Decided {
  readonly id: string;
  readonly transactionId: string;
  /** Of the bet, as it was read. */
  readonly version: number;
  /** `putOff`: it could not be read. */
  readonly decision: ClaimDecision | { readonly kind: 'putOff' };
  /** The bet's new operation in flight, if it is sent. */
  readonly busy?: Busy;
}

/** A delivery that was written. */
export interface ClaimedRow {
  readonly id: string;
  readonly isOverdue: boolean;
}

interface Claiming {
  readonly operatorId: string;
  /** The new generation of a bet without a known wallet. */
  readonly generation: number;
  /** One of the rows that were read: it has the releases at that time. */
  readonly read: Columns;
  readonly limit: number;
  /** In order of their due times. */
  readonly decided: readonly Decided[];
}

const each =
  <T>(of: (one: Decided) => T) =>
  ({ decided }: Claiming) =>
    decided.map(of);

const STATES = {
  send: 'pending',
  hold: 'pending',
  putOff: 'pending',
  supersede: 'superseded',
} as const;

/** @returns null: it stays due */
function waitSeconds(decision: Decided['decision']): number | null {
  if (decision.kind === 'supersede') return null;
  return decision.kind === 'hold' ? decision.forMs / 1000 : LEASE_SECONDS;
}

/** Writes decisions on unchanged deliveries, and skips what others have locked. @returns the written deliveries */
export const CLAIM = statement(
  'delivery-claim',
  {
    operator_id: ['text', ({ operatorId }) => operatorId],
    generation: ['int', ({ generation }) => generation],
    released: ['int', ({ read }) => read.int('released')],
    released_to: ['int', ({ read }) => read.int('released_to')],
    limit: ['int', ({ limit }) => limit],
    ids: ['bigint[]', each(({ id }) => id)],
    transaction_ids: ['text[]', each(({ transactionId }) => transactionId)],
    versions: ['int[]', each(({ version }) => version)],
    states: ['text[]', each(({ decision: { kind } }) => STATES[kind])],
    are_held: ['bool[]', each(({ decision: { kind } }) => kind === 'hold')],
    wait_seconds: ['float8[]', each(({ decision }) => waitSeconds(decision))],
    attempt_ids: ['uuid[]', each(({ busy }) => busy?.attemptId ?? null)],
    busy_operations: ['text[]', each(({ busy }) => busy?.operation ?? null)],
  } satisfies Parameters<Claiming>,
  `
  WITH given AS MATERIALIZED (
    SELECT * FROM unnest(:ids, :transaction_ids, :versions, :states, :are_held, :wait_seconds, :attempt_ids,
                         :busy_operations) WITH ORDINALITY
      AS g(id, transaction_id, version, state, held, wait_seconds, attempt_id, busy_operation, place)
  ), free AS MATERIALIZED (
    -- Callbacks lock a bet first, then its deliveries. Nothing waits for a lock.
    SELECT transaction_id, version FROM bets
     WHERE transaction_id = ANY (:transaction_ids) AND busy_attempt IS NULL
       -- Held by a person, or released meanwhile: read here, so that no process relies on what it read a second ago.
       AND NOT EXISTS (SELECT FROM operator_holds h
                        WHERE h.operator_id = :operator_id
                          AND (h.hold_since IS NOT NULL
                               OR (h.released, h.released_to) <> (:released, :released_to)))
       FOR UPDATE SKIP LOCKED
  ), unmoved AS MATERIALIZED (
    SELECT id FROM deliveries
     WHERE id = ANY (ARRAY(SELECT g.id FROM given g JOIN free USING (transaction_id, version)))
       -- IS NOT DISTINCT FROM forces a look-up by id: a kept plan would scan the whole index of open deliveries.
       AND state IS NOT DISTINCT FROM 'pending'
       FOR UPDATE SKIP LOCKED
  ), claimed AS MATERIALIZED (
    SELECT g.* FROM given g JOIN unmoved USING (id) ORDER BY g.place LIMIT :limit
  ), bet AS (
    UPDATE bets b
       SET busy_operation = c.busy_operation, busy_attempt = c.attempt_id, busy_until = ${LEASE_END},
           version = b.version + 1,
           -- From now on it is in the books of the wallet that is asked.
           generation = coalesce(nullif(b.generation, 0), :generation)
      FROM claimed c
     WHERE b.transaction_id = c.transaction_id AND c.attempt_id IS NOT NULL
  )
  UPDATE deliveries d
     SET state = c.state, held = c.held,
         attempts = d.attempts + CASE WHEN c.attempt_id IS NULL THEN 0 ELSE 1 END,
         next_attempt_at = coalesce(clock_timestamp() + make_interval(secs => c.wait_seconds), d.next_attempt_at),
         settled_at = CASE WHEN c.state <> 'pending' THEN clock_timestamp() END
    FROM claimed c
   WHERE d.id = c.id AND d.state IS NOT DISTINCT FROM 'pending'
  -- By the horizon as it is now: a person may have begun it anew since the delivery was read.
  RETURNING d.id, clock_timestamp() > d.dead_at + make_interval(secs => (${heldMs(':operator_id')} - d.held_ms) / 1000.0)
                    AS overdue`,
  (row) => ({ id: row.text('id'), isOverdue: row.bool('overdue') }),
);
