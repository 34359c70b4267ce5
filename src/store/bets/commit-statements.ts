import type { Bet } from '../../domain/bet.ts';
import { heldMs } from '../deliveries/held-time.ts';
import { isOpen } from '../deliveries/open-of-bet.ts';
import { arrayText } from '../sql/sql-value.ts';
import { batchStatement, type Columns, type Parameters } from '../sql/statement.ts';
import { SET_STATE, STATE_COLUMNS, stateParameters } from './columns.ts';
import type { Commit } from './commit.ts';
import { LEASE_END } from './lease.ts';
import { inputOfFree } from './locked-row.ts';

/** A commit, and the time by PostgreSQL's clock from which it must not take effect. */
export interface LimitedCommit {
  readonly commit: Commit;
  /** Undefined: nobody waits for an answer. */
  readonly before: Date | undefined;
}

const ofBet =
  <T>(value: (bet: Bet) => T) =>
  ({ commit }: LimitedCommit) =>
    value(commit.to);

const PARAMETERS: Parameters<LimitedCommit> = {
  ...stateParameters<LimitedCommit>(({ commit }) => commit.to),
  busy_operation: ['text', ofBet(({ busy }) => busy?.operation ?? null)],
  busy_attempt: ['uuid', ofBet(({ busy }) => busy?.attemptId ?? null)],
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
  // An array encoded as text: in an array of arrays, all would need the same length.
  supersedes: ['text', ({ commit }) => arrayText(commit.supersedes)],
  version: ['int', ({ commit }) => commit.from.version],
  before: ['timestamptz', ({ before }) => before ?? null],
};

/** Nothing takes effect after its caller was answered: the statement itself refuses it (I11). */
const IS_LATE = `clock_timestamp() >= coalesce(g.before, 'infinity')`;

/** Every commit writes operations and promises, for the attempts in `bet`. */
const WRITTEN = `op AS (
    INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, request_id, body,
                            answer_status, answer_body)
    SELECT i.transaction_id, bet.operator_id, i.operation, i.attempt_id, i.request_id, i.body,
           i.answer_status, i.answer_body
      FROM bet JOIN input i USING (attempt_id)
    RETURNING id, attempt_id, operator_id
  ), promise AS (
    -- A live delivery becomes due when its attempt's lease ends, so a killed process loses nothing.
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                            transaction_time, settle_amount, settle_type, held_ms,
                            next_attempt_at, dead_at)
    SELECT op.id, op.operator_id, i.transaction_id, i.promised, i.promised_state, i.promised_time,
           i.settle_amount, i.settle_type, ${heldMs('op.operator_id')},
           CASE WHEN i.promised_state = 'live' THEN ${LEASE_END} ELSE clock_timestamp() END,
           clock_timestamp() + make_interval(secs => i.horizon_seconds)
      FROM op JOIN input i USING (attempt_id) WHERE i.promised IS NOT NULL
  )`;

const writtenOf = (row: Columns) => ({
  attemptId: row.text('attempt_id'),
  operationId: row.textOrNull('operation_id'),
  isLate: row.bool('is_late'),
  isLocked: row.bool('is_locked'),
});

/** Wait for another insert of the bet: ours take milliseconds, but a stopped PostgreSQL process keeps its locks. */
const UNCOMMITTED_MS = 20;

/**
 * The first operation of a bet. One commit per statement: two for one bet would not see each other, and both would
 * count as the first. Fails with `lock_not_available`, writing nothing, if another insert stays uncommitted.
 */
export const COMMIT_NEW = batchStatement(
  'bet-commit-new',
  PARAMETERS,
  `
  WITH given AS MATERIALIZED (
    SELECT i.*, set_config('lock_timeout', '${UNCOMMITTED_MS}', true) AS lock_timeout FROM :input
  ), input AS MATERIALIZED (
    SELECT g.* FROM given g WHERE NOT ${IS_LATE}
  ), begun AS (
    INSERT INTO bets (transaction_id, operator_id, player_id, session_id, amount, currency,
                      generation, ${STATE_COLUMNS.join(', ')}, busy_operation, busy_attempt, busy_until)
    SELECT i.transaction_id, i.operator_id, i.player_id, i.session_id, i.amount, i.currency, i.generation,
           ${STATE_COLUMNS.map((column) => `i.${column}`).join(', ')}, i.busy_operation, i.busy_attempt,
           CASE WHEN i.busy_attempt IS NOT NULL THEN ${LEASE_END} END
      FROM input i
    ON CONFLICT (transaction_id) DO NOTHING
    RETURNING transaction_id, operator_id
  ), bet AS (
    SELECT i.attempt_id, begun.operator_id FROM begun JOIN input i USING (transaction_id)
  ), ${WRITTEN}
  SELECT g.attempt_id, op.id AS operation_id, ${IS_LATE} AS is_late, false AS is_locked
    FROM given g LEFT JOIN op USING (attempt_id)`,
  writtenOf,
);

/**
 * Writes decisions, each only if its bet has not changed since it was read; of two for one bet, the first written wins.
 * A bet or delivery that another session has locked is skipped and returned as `is_locked`.
 * @param onlyWhere a further condition on `i`, a row of `input`
 */
const changeWhere = (onlyWhere = '') => `
  ${inputOfFree(`
        SELECT d.id FROM deliveries d
         WHERE d.transaction_id = g.transaction_id AND ${isOpen('d')}
           AND (d.id = ANY (g.supersedes::bigint[])
                -- A confirmation is overtaken by any later money operation.
                OR d.purpose = 'confirm' AND g.operation <> 'update')`)}, bet AS (
    UPDATE bets b
       SET operator_id = i.operator_id, player_id = i.player_id, session_id = i.session_id,
           amount = i.amount, currency = i.currency, generation = i.generation,
           ${SET_STATE}, busy_operation = i.busy_operation, busy_attempt = i.busy_attempt,
           -- An attempt in flight keeps its lease; a new attempt gets a new one.
           busy_until = CASE WHEN i.busy_attempt IS NULL THEN NULL
                             WHEN b.busy_attempt = i.busy_attempt THEN b.busy_until
                             ELSE ${LEASE_END} END,
           version = b.version + 1
      FROM input i
     WHERE b.transaction_id = i.transaction_id AND b.version = i.version AND NOT i.is_late
       ${onlyWhere}
    RETURNING i.attempt_id, b.operator_id
  ), ${WRITTEN}, superseded AS (
    UPDATE deliveries SET state = 'superseded', settled_at = clock_timestamp()
     WHERE id = ANY (ARRAY(SELECT t.id FROM touched t JOIN bet USING (attempt_id)))
       -- IS NOT DISTINCT FROM keeps PostgreSQL from the index of open deliveries: they are found by their ids, and a
       -- kept plan must not read a whole backlog.
       AND (state IS NOT DISTINCT FROM 'live' OR state IS NOT DISTINCT FROM 'pending')
  )
  SELECT g.attempt_id, op.id AS operation_id, ${IS_LATE} AS is_late,
         NOT EXISTS (SELECT FROM input i WHERE i.attempt_id = g.attempt_id) AND EXISTS (
           SELECT FROM bets b WHERE b.transaction_id = g.transaction_id AND b.version = g.version OFFSET 0
         ) AS is_locked
    FROM given g LEFT JOIN op USING (attempt_id)`;

/** Decisions on bets that are in the journal, except places. */
export const COMMIT_CHANGE = batchStatement(
  'bet-commit-change',
  PARAMETERS,
  changeWhere(),
  writtenOf,
);

/**
 * A place on a bet that is in the journal, only while its session is live, so that no committed revocation is missed. A
 * separate statement, so that nothing else waits while another session locks `sessions`.
 */
export const COMMIT_PLACE = batchStatement(
  'bet-commit-place',
  PARAMETERS,
  changeWhere(`AND EXISTS (
             SELECT FROM sessions s WHERE s.id = i.session_id AND s.player_id = i.player_id
                AND s.ended_at IS NULL AND s.expires_at > clock_timestamp())`),
  writtenOf,
);
