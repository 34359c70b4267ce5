import { CONFIRMATIONS } from '../../domain/confirm.ts';
import { BET_OPERATIONS } from '../../domain/operation.ts';
import { isOpen } from '../deliveries/open-of-bet.ts';
import { statement } from '../sql/statement.ts';
import { byAttempt } from './statements.ts';

const isResult = `busy_operation IN ('settle', 'unsettle')`;
/** Whether it may still take effect late; a confirmation may too, over a newer operation, unless of a rollback. */
const isLate = `(${isResult}
            OR busy_operation = 'confirm' AND rollback <> 'confirmed' AND late_kind IS NOT NULL)`;

/** SQL that gives an attempt whose lease has ended an unknown outcome. */
const UNKNOWN_STATE = `
           place = CASE WHEN busy_operation = 'place' THEN 'unknown' ELSE place END,
           settlement = CASE WHEN ${isResult} THEN 'unknown' ELSE settlement END,
           settlement_amount = CASE WHEN ${isResult} THEN NULL ELSE settlement_amount END,
           settlement_type = CASE WHEN ${isResult} THEN NULL ELSE settlement_type END,
           settlement_time = CASE WHEN ${isResult} THEN NULL ELSE settlement_time END,
           -- Only its process knew the result. The sweep decides when the standing operation is confirmed.
           late_kind = CASE WHEN ${isLate} THEN 'several' ELSE late_kind END,
           late_amount = CASE WHEN ${isLate} THEN NULL ELSE late_amount END,
           late_type = CASE WHEN ${isLate} THEN NULL ELSE late_type END,
           late_at = CASE WHEN ${isLate} THEN clock_timestamp() ELSE late_at END,
           confirm_left = CASE WHEN ${isResult} THEN ${CONFIRMATIONS} ELSE confirm_left END,
           confirm_at = CASE WHEN ${isResult} THEN clock_timestamp() ELSE confirm_at END,
           busy_operation = NULL, busy_attempt = NULL, busy_until = NULL, version = version + 1`;

/** The live deliveries that guarded such attempts become due. */
const GUARDS_BECOME_WORK = `
    UPDATE deliveries SET state = 'pending', next_attempt_at = clock_timestamp()
     -- As an array: with a join, the planner would read every open delivery to find these few.
     WHERE ${isOpen('deliveries')} AND state IS NOT DISTINCT FROM 'live'
       AND transaction_id = ANY (ARRAY(SELECT transaction_id FROM bet))`;

/** Marks one lapsed attempt as unknown and frees its bet, unless another session has done so, or has locked it. */
export const RECOVER = statement(
  'bet-recover',
  byAttempt,
  `
  WITH lapsed AS MATERIALIZED (
    SELECT transaction_id FROM bets
     WHERE transaction_id = :transaction_id AND busy_attempt = :attempt_id
       AND busy_until <= clock_timestamp() FOR UPDATE SKIP LOCKED
  ), bet AS (
    UPDATE bets SET ${UNKNOWN_STATE}
     WHERE transaction_id = ANY (ARRAY(SELECT transaction_id FROM lapsed))
    RETURNING transaction_id
  ), guards AS (${GUARDS_BECOME_WORK})
  SELECT EXISTS (SELECT FROM bet) AS is_recovered,
         NOT EXISTS (SELECT FROM lapsed) AND EXISTS (
           SELECT FROM bets WHERE transaction_id = :transaction_id AND busy_attempt = :attempt_id
             AND busy_until <= clock_timestamp()) AS is_locked`,
  (row) => ({ isRecovered: row.bool('is_recovered'), isLocked: row.bool('is_locked') }),
);

/** The same for up to `limit` lapsed attempts, the oldest first. */
export const RECOVER_LAPSED = statement(
  'bet-recover-lapsed',
  { limit: ['int', (limit: number) => limit] },
  `
  WITH lapsed AS (
    SELECT transaction_id, operator_id, busy_operation FROM bets
     WHERE busy_until <= statement_timestamp()
     ORDER BY busy_until LIMIT :limit FOR UPDATE SKIP LOCKED
  ), bet AS (
    UPDATE bets SET ${UNKNOWN_STATE}
     WHERE transaction_id = ANY (ARRAY(SELECT transaction_id FROM lapsed))
    RETURNING transaction_id
  ), guards AS (${GUARDS_BECOME_WORK})
  SELECT transaction_id, operator_id, busy_operation FROM lapsed`,
  (row) => ({
    transactionId: row.text('transaction_id'),
    operatorId: row.textOrNull('operator_id'),
    operation: row.oneOf('busy_operation', [...BET_OPERATIONS, 'confirm']),
  }),
);
