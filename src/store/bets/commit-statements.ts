import type { Bet } from '../../domain/bet.ts';
import { type Parameters, statement } from '../statement.ts';
import { placeColumns, rollbackColumns, settlementColumns } from './columns.ts';
import type { Commit } from './commit.ts';
import { LEASE_SECONDS } from './lease.ts';

/** A commit and the time of PostgreSQL's clock from which on it takes no effect any more. */
export interface LimitedCommit {
  readonly commit: Commit;
  /** Undefined: nobody waits for an answer. */
  readonly before: Date | undefined;
}

const ofBet =
  <T>(value: (bet: Bet) => T) =>
  ({ commit }: LimitedCommit) =>
    value(commit.to);

/** The state of a bet that a commit writes, in the columns' order of `bets`. */
const STATE: Parameters<LimitedCommit> = {
  place: ['text', ofBet(({ place }) => placeColumns(place).place)],
  place_time: ['text', ofBet(({ place }) => placeColumns(place).time)],
  place_code: ['int', ofBet(({ place }) => placeColumns(place).code)],
  place_message: ['text', ofBet(({ place }) => placeColumns(place).message)],
  settlement: ['text', ofBet(({ settlement }) => settlementColumns(settlement).settlement)],
  settlement_amount: ['text', ofBet(({ settlement }) => settlementColumns(settlement).amount)],
  settlement_type: ['text', ofBet(({ settlement }) => settlementColumns(settlement).type)],
  settlement_time: ['text', ofBet(({ settlement }) => settlementColumns(settlement).time)],
  rollback: ['text', ofBet(({ rollback }) => rollbackColumns(rollback).rollback)],
  rollback_time: ['text', ofBet(({ rollback }) => rollbackColumns(rollback).time)],
  rollback_code: ['int', ofBet(({ rollback }) => rollbackColumns(rollback).code)],
  rollback_message: ['text', ofBet(({ rollback }) => rollbackColumns(rollback).message)],
  update_key: ['text', ofBet(({ update }) => update?.key ?? null)],
  update_time: ['text', ofBet(({ update }) => update?.transactionTime ?? null)],
  busy_operation: ['text', ofBet(({ busy }) => busy?.operation ?? null)],
  busy_attempt: ['uuid', ofBet(({ busy }) => busy?.attemptId ?? null)],
};

const PARAMETERS: Parameters<LimitedCommit> = {
  ...STATE,
  transaction_id: ['text', ofBet(({ transactionId }) => transactionId)],
  operator_id: ['text', ofBet(({ owner }) => owner?.operatorId ?? null)],
  player_id: ['bigint', ofBet(({ owner }) => owner?.playerId ?? null)],
  session_id: ['bigint', ofBet(({ sessionId }) => sessionId ?? null)],
  amount: ['text', ofBet(({ amount }) => amount ?? null)],
  currency: ['text', ofBet(({ currency }) => currency ?? null)],
  generation: ['int', ofBet(({ generation }) => generation)],
  operation: ['text', ({ commit }) => commit.record.operation],
  attempt_id: ['uuid', ({ commit }) => commit.record.attemptId],
  request_id: ['text', ({ commit }) => commit.record.requestId ?? null],
  body: ['bytea', ({ commit }) => commit.record.body],
  answer_status: ['int', ({ commit }) => commit.record.answer?.status ?? null],
  answer_body: ['text', ({ commit }) => commit.record.answer?.body ?? null],
  promised: ['text', ({ commit }) => commit.delivery?.operation ?? null],
  promised_state: ['text', ({ commit }) => commit.delivery?.state ?? null],
  promised_time: ['text', ({ commit }) => commit.delivery?.transactionTime ?? null],
  horizon_seconds: ['float8', ({ commit }) => (commit.delivery?.horizonMs ?? 0) / 1000],
  settle_amount: ['text', ({ commit }) => commit.delivery?.settle?.amount ?? null],
  settle_type: ['text', ({ commit }) => commit.delivery?.settle?.resultType ?? null],
  supersedes: ['bigint[]', ({ commit }) => commit.supersedes],
  before: ['timestamptz', ({ before }) => before ?? null],
};

const CHANGE_PARAMETERS: Parameters<LimitedCommit> = {
  ...PARAMETERS,
  version: ['int', ({ commit }) => commit.from.version],
};

const stateColumns = Object.keys(STATE);
const lease = `clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;
/** What comes after its caller's answer takes no effect: the statement itself refuses (I11). */
const inTime = `clock_timestamp() < coalesce(:before, 'infinity')`;

/** What an operator was held for until now: only what comes later stops the horizon. */
export const heldMs = (operatorId: string) =>
  `coalesce((SELECT h.held_ms FROM operator_holds h WHERE h.operator_id = ${operatorId}), 0)`;

/** What both commits do once `bet` holds a row: operation, promise, superseded deliveries. */
const tail = (isLocked: string) => `
  , op AS (
    INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, request_id, body,
                            answer_status, answer_body)
    SELECT bet.transaction_id, bet.operator_id, :operation, :attempt_id, :request_id, :body,
           :answer_status, :answer_body
      FROM bet
    RETURNING id, transaction_id, operator_id
  ), promise AS (
    -- A live one becomes due when its attempt's lease ends: a killed process loses nothing.
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                            transaction_time, settle_amount, settle_type, held_ms,
                            next_attempt_at, dead_at)
    SELECT op.id, op.operator_id, op.transaction_id, :promised, :promised_state, :promised_time,
           :settle_amount, :settle_type, ${heldMs('op.operator_id')},
           CASE WHEN :promised_state = 'live' THEN ${lease} ELSE clock_timestamp() END,
           clock_timestamp() + make_interval(secs => :horizon_seconds)
      FROM op WHERE :promised IS NOT NULL
  ), superseded AS (
    UPDATE deliveries SET state = 'superseded', settled_at = clock_timestamp()
     WHERE transaction_id = :transaction_id AND state IN ('live', 'pending')
       AND EXISTS (SELECT 1 FROM bet)
       AND (id = ANY (:supersedes)
            -- What was to be sent once more is overtaken by any later money operation.
            OR purpose = 'confirm' AND :operation <> 'update')
  )
  SELECT (SELECT id FROM op) AS operation_id, NOT ${inTime} AS is_late, ${isLocked} AS is_locked`;

const written = (row: { textOrNull(c: string): string | undefined; bool(c: string): boolean }) => ({
  operationId: row.textOrNull('operation_id'),
  isLate: row.bool('is_late'),
  isLocked: row.bool('is_locked'),
});

export const COMMIT_NEW = statement(
  'bet-commit-new',
  PARAMETERS,
  `
  WITH bet AS (
    INSERT INTO bets (transaction_id, operator_id, player_id, session_id, amount, currency,
                      generation, ${stateColumns.join(', ')}, busy_until)
    SELECT :transaction_id, :operator_id, :player_id, :session_id, :amount, :currency, :generation,
           ${stateColumns.map((column) => `:${column}`).join(', ')},
           CASE WHEN :busy_attempt IS NOT NULL THEN ${lease} END
     WHERE ${inTime}
    ON CONFLICT (transaction_id) DO NOTHING
    RETURNING transaction_id, operator_id
  )${tail('false')}`,
  written,
);

export const COMMIT_CHANGE = statement(
  'bet-commit-change',
  CHANGE_PARAMETERS,
  `
  WITH unmoved AS MATERIALIZED (
    SELECT transaction_id FROM bets
     WHERE transaction_id = :transaction_id AND version = :version FOR UPDATE SKIP LOCKED
  ), bet AS (
    UPDATE bets b
       SET operator_id = :operator_id, player_id = :player_id, session_id = :session_id,
           amount = :amount, currency = :currency, generation = :generation,
           ${stateColumns.map((column) => `${column} = :${column}`).join(', ')},
           -- Whoever is busy keeps its lease; a new attempt gets one.
           busy_until = CASE WHEN :busy_attempt IS NULL THEN NULL
                             WHEN b.busy_attempt = :busy_attempt THEN b.busy_until
                             ELSE ${lease} END,
           version = b.version + 1
      FROM unmoved
     WHERE b.transaction_id = unmoved.transaction_id AND b.version = :version AND ${inTime}
    RETURNING b.transaction_id, b.operator_id
  )${tail(`
    NOT EXISTS (SELECT FROM unmoved) AND EXISTS (
      SELECT FROM bets WHERE transaction_id = :transaction_id AND version = :version)`)}`,
  written,
);
