import type { Statement } from '../database.ts';
import { LEASE_SECONDS } from './place-journal.ts';
import { SELECT_BET, STATE_COLUMNS } from './rows.ts';

export const FIND: Statement = { name: 'bet-find', text: SELECT_BET };

export const FIND_OPERATION: Statement = {
  name: 'bet-find-operation',
  text: 'SELECT id FROM operations WHERE transaction_id = $1 AND attempt_id = $2',
};

export const TOLD_OF: Statement = {
  name: 'bet-told-of',
  text: `
  SELECT o.body, a.answer_status AS status, a.answer_body AS answer
    FROM operations o JOIN attempts a ON a.operation_id = o.id
   WHERE o.transaction_id = $1::text AND o.attempt_id = $2::uuid
     AND a.answer_status IS NOT NULL AND a.answer_body IS NOT NULL
   ORDER BY a.number LIMIT 1`,
};

/** A refusal counts where the service was told of it: else the operation was not brought. */
export const OPERATIONS: Statement = {
  name: 'bet-operations',
  text: `
  SELECT o.id, o.operation, o.attempt_id AS "attemptId", o.body,
         EXISTS (SELECT 1 FROM attempts a
                  WHERE a.operation_id = o.id
                    AND (a.result = 'accepted'
                         OR a.result = 'declined' AND a.answer_status = 400)) AS "isConcluded"
    FROM operations o
   WHERE o.transaction_id = $1::text AND o.operation <> 'place'
   ORDER BY o.id DESC`,
};

const STATE_FIRST = 9;
const state = STATE_COLUMNS.map((column, index) => ({ column, at: `$${STATE_FIRST + index}` }));
const busyAttempt = `$${STATE_FIRST + STATE_COLUMNS.length - 1}`;
const p = (offset: number) => `$${STATE_FIRST + STATE_COLUMNS.length + offset}`;
const lease = `clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;

/** What an operator was held for until now: only what comes later stops the horizon. */
export const heldMs = (operatorId: string) =>
  `coalesce((SELECT h.held_ms FROM operator_holds h WHERE h.operator_id = ${operatorId}), 0)`;

/** What both commits do once `bet` holds a row: operation, promise, superseded deliveries. */
const COMMIT_TAIL = `
  , op AS (
    INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, request_id, body,
                            answer_status, answer_body)
    SELECT bet.transaction_id, bet.operator_id, ${p(0)}::text, ${p(1)}::uuid, ${p(2)}::text,
           ${p(3)}::bytea, ${p(4)}::int, ${p(5)}::text
      FROM bet
    RETURNING id, transaction_id, operator_id
  ), promise AS (
    -- A live one becomes due when its attempt's lease ends: a killed process loses nothing.
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                            transaction_time, settle_amount, settle_type, held_ms,
                            next_attempt_at, dead_at)
    SELECT op.id, op.operator_id, op.transaction_id, ${p(6)}::text, ${p(7)}::text, ${p(8)}::text,
           ${p(10)}::text, ${p(11)}::text, ${heldMs('op.operator_id')},
           CASE WHEN ${p(7)}::text = 'live' THEN ${lease} ELSE clock_timestamp() END,
           clock_timestamp() + make_interval(secs => ${p(9)}::float8)
      FROM op WHERE ${p(6)}::text IS NOT NULL
  ), superseded AS (
    UPDATE deliveries SET state = 'superseded', settled_at = clock_timestamp()
     WHERE state IN ('live', 'pending') AND EXISTS (SELECT 1 FROM bet)
       AND (id = ANY (${p(12)}::bigint[])
            -- What was to be confirmed once more is overtaken by any later money operation.
            OR transaction_id = $1::text AND purpose = 'confirm' AND ${p(0)}::text <> 'update')
  )
  SELECT op.id AS operation_id FROM op`;

export const COMMIT_NEW: Statement = {
  name: 'bet-commit-new',
  text: `
  WITH bet AS (
    INSERT INTO bets (transaction_id, operator_id, player_id, session_id, amount, currency,
                      generation, ${state.map(({ column }) => column).join(', ')}, busy_until)
    SELECT $1::text, $3::text, $4::bigint, $5::bigint, $6::text, $7::text, $8::int,
           ${state.map(({ column, at }) => `${at}::${castOf(column)}`).join(', ')},
           CASE WHEN ${busyAttempt}::uuid IS NOT NULL THEN ${lease} END
     WHERE $2::int = 0
    ON CONFLICT (transaction_id) DO NOTHING
    RETURNING transaction_id, operator_id
  )${COMMIT_TAIL}`,
};

export const COMMIT_CHANGE: Statement = {
  name: 'bet-commit-change',
  text: `
  WITH bet AS (
    UPDATE bets
       SET operator_id = $3::text, player_id = $4::bigint, session_id = $5::bigint,
           amount = $6::text, currency = $7::text, generation = $8::int,
           ${state.map(({ column, at }) => `${column} = ${at}::${castOf(column)}`).join(', ')},
           -- Whoever is busy keeps its lease; a new attempt gets one.
           busy_until = CASE WHEN ${busyAttempt}::uuid IS NULL THEN NULL
                             WHEN busy_attempt = ${busyAttempt}::uuid THEN busy_until
                             ELSE ${lease} END,
           version = version + 1
     WHERE transaction_id = $1::text AND version = $2::int
    RETURNING transaction_id, operator_id
  )${COMMIT_TAIL}`,
};

function castOf(column: (typeof STATE_COLUMNS)[number]): 'int' | 'uuid' | 'text' {
  if (column === 'place_code' || column === 'rollback_code') return 'int';
  return column === 'busy_attempt' ? 'uuid' : 'text';
}

/** What in-flight means once its owner is gone: the outcome is unknown, a guard becomes work. */
const UNKNOWN_STATE = `
           place = CASE WHEN busy_operation = 'place' THEN 'unknown' ELSE place END,
           settlement = CASE WHEN busy_operation IN ('settle', 'unsettle') THEN 'unknown'
                             ELSE settlement END,
           settlement_amount = CASE WHEN busy_operation IN ('settle', 'unsettle') THEN NULL
                                    ELSE settlement_amount END,
           settlement_type = CASE WHEN busy_operation IN ('settle', 'unsettle') THEN NULL
                                  ELSE settlement_type END,
           settlement_time = CASE WHEN busy_operation IN ('settle', 'unsettle') THEN NULL
                                  ELSE settlement_time END,
           busy_operation = NULL, busy_attempt = NULL, busy_until = NULL, version = version + 1`;

const GUARDS_BECOME_WORK = `
    UPDATE deliveries SET state = 'pending', next_attempt_at = clock_timestamp()
     -- As an array: joined, the planner would read every open delivery to find these few.
     WHERE state = 'live' AND transaction_id = ANY (ARRAY(SELECT transaction_id FROM bet))`;

export const RECOVER: Statement = {
  name: 'bet-recover',
  text: `
  WITH bet AS (
    UPDATE bets SET ${UNKNOWN_STATE}
     WHERE transaction_id = $1::text AND busy_attempt = $2::uuid
       AND busy_until <= clock_timestamp()
    RETURNING transaction_id
  ) ${GUARDS_BECOME_WORK}`,
};

export const RECOVER_LAPSED: Statement = {
  name: 'bet-recover-lapsed',
  text: `
  WITH lapsed AS (
    SELECT transaction_id, operator_id, busy_operation FROM bets
     WHERE busy_until <= statement_timestamp()
     ORDER BY busy_until LIMIT $1::int FOR UPDATE SKIP LOCKED
  ), bet AS (
    UPDATE bets SET ${UNKNOWN_STATE}
     WHERE transaction_id = ANY (ARRAY(SELECT transaction_id FROM lapsed))
    RETURNING transaction_id
  ), guards AS (${GUARDS_BECOME_WORK})
  SELECT transaction_id AS "transactionId", operator_id AS "operatorId",
         busy_operation AS operation
    FROM lapsed`,
};
