import { CONFIRMATIONS } from '../../domain/confirm.ts';
import { heldMs } from '../deliveries/held-time.ts';
import { isOpen } from '../deliveries/open-of-bet.ts';
import { batchStatement, type Columns } from '../sql/statement.ts';
import { ATTEMPT_COLUMNS } from './attempt-record.ts';
import { ANSWERED_PARAMETERS, OUTCOME_PARAMETERS } from './finish-parameters.ts';
import { inputOfFree, WRITTEN_AND_LOCKED } from './locked-row.ts';

/** Groups of columns that are written together, if the first of the group is given. */
const TOGETHER = [
  ['settlement', 'settlement_amount', 'settlement_type', 'settlement_time'],
  ['place', 'place_time', 'place_code', 'place_message'],
] as const;

const state = TOGETHER.flatMap((columns) =>
  columns.map(
    (column) =>
      `${column} = CASE WHEN i.${columns[0]} IS NULL THEN b.${column} ELSE i.${column} END`,
  ),
);

/** A confirmation counts only while its operation still stands: a person may have changed that meanwhile. */
const CONCERNS_STANDING = `(i.delivery_purpose IS DISTINCT FROM 'confirm' OR b.standing_operation_id = i.operation_id)`;
const SETS_LATE = `i.late_kind IS NOT NULL AND ${CONCERNS_STANDING}`;

/** Also behind what stands by now: a person's word, or a rollback that did not wait for the confirmation. */
const ADDS_LATE = `i.confirmation_lost AND b.late_kind IS NOT NULL AND b.rollback <> 'confirmed'`;

/** A column of the late effect. A lost confirmation adds its own possible effect, which makes it `several`. */
const lateColumn = (column: string, several: string) =>
  `${column} = CASE WHEN ${SETS_LATE} THEN i.${column} WHEN ${ADDS_LATE} THEN ${several}
                    ELSE b.${column} END`;

/**
 * Whether the attempted update is still the bet's last one. If its caller ran out of time, a newer update may have been
 * promised meanwhile: then that is the last one, whatever the outcome of this one, and even if both have the
 * same time.
 */
const IS_LAST_UPDATE = `coalesce(b.update_time = (
             SELECT d.transaction_time FROM deliveries d
              WHERE d.operation_id = i.operation_id AND d.purpose = i.delivery_purpose), false)
           AND NOT EXISTS (SELECT FROM deliveries d WHERE d.transaction_id = b.transaction_id
                 AND ${isOpen('d')} AND d.operation = 'update' AND d.operation_id - i.operation_id > 0)`;

/** Writes outcomes: the bet, its attempt, its delivery. `:attempts` says for which of them an attempt is recorded. */
const TEXT = `
  ${inputOfFree(`
        SELECT d.id FROM deliveries d
         WHERE d.operation_id = g.operation_id AND d.purpose = g.delivery_purpose`)}, bet AS (
    UPDATE bets b
       SET ${state.join(',\n           ')},
           place_answered_unknown = b.place_answered_unknown
             OR (i.is_late AND coalesce(i.place IN ('accepted', 'declined'), false)),
           rollback = coalesce(i.rollback, b.rollback),
           -- Too late: the caller was answered with the promise, and its time stays the answer.
           rollback_time = CASE WHEN i.rollback IS NULL OR i.is_late THEN b.rollback_time
                                ELSE i.rollback_time END,
           rollback_code = CASE WHEN i.rollback IS NULL OR i.is_late THEN b.rollback_code
                                ELSE i.rollback_code END,
           rollback_message = CASE WHEN i.rollback IS NULL OR i.is_late THEN b.rollback_message
                                   ELSE i.rollback_message END,
           update_key = CASE WHEN i.update_key IS NULL THEN b.update_key
                             WHEN ${IS_LAST_UPDATE} THEN i.update_key ELSE b.update_key END,
           update_time = CASE WHEN i.update_key IS NULL OR i.is_late AND i.update_key = b.update_key
                              THEN b.update_time
                              WHEN ${IS_LAST_UPDATE} THEN i.update_time ELSE b.update_time END,
           standing_operation_id = CASE WHEN i.stands THEN i.operation_id
                                        ELSE b.standing_operation_id END,
           ${lateColumn('late_kind', "'several'")},
           ${lateColumn('late_amount', 'NULL')},
           ${lateColumn('late_type', 'NULL')},
           -- Also for a lost attempt of the first confirmation: the second one is timed from here.
           late_at = CASE WHEN ${SETS_LATE} OR ${ADDS_LATE} THEN clock_timestamp() ELSE b.late_at END,
           confirm_left = CASE WHEN ${SETS_LATE} THEN ${CONFIRMATIONS}
                               WHEN i.confirmation_ended THEN greatest(b.confirm_left - 1, 0)
                               ELSE b.confirm_left END,
           confirm_at = CASE WHEN ${SETS_LATE}
                             THEN clock_timestamp() + make_interval(secs => i.confirm_seconds)
                             WHEN NOT i.confirmation_ended THEN b.confirm_at
                             WHEN b.confirm_left > 1 THEN clock_timestamp() END,
           busy_operation = NULL, busy_attempt = NULL, busy_until = NULL, version = b.version + 1
      FROM input i
     WHERE b.transaction_id = i.transaction_id AND b.busy_attempt = i.attempt_id
    -- A result promised only now would be delivered after a rollback that did not wait for it.
    RETURNING i.attempt_id, b.operator_id, i.is_late,
              CASE WHEN b.rollback <> 'none' AND i.promised_state = 'pending' THEN 'superseded'
                   ELSE i.promised_state END AS promised_state
  ), attempt AS (
    INSERT INTO attempts (operation_id, number, ${ATTEMPT_COLUMNS.join(', ')}, confirmed)
    SELECT i.operation_id,
           1 + coalesce((SELECT max(a.number) FROM attempts a
                          WHERE a.operation_id = i.operation_id), 0),
           i.started_at, i.latency_ms, i.result, i.status, i.code, i.sent, i.error,
           i.wallet_type, i.wallet_body, i.wallet_truncated,
           CASE WHEN i.is_late THEN i.status_if_late ELSE i.answer_status END,
           CASE WHEN i.is_late THEN i.body_if_late ELSE i.answer_body END,
           -- For the books: a wallet has confirmed the operation, and the bet's state is based on it.
           (i.stands OR coalesce(i.place = 'accepted', false)) AND bet.attempt_id IS NOT NULL
      FROM :attempts WHERE i.was_tried
    ON CONFLICT DO NOTHING
  ), confirmed_live AS (
    -- Confirmed within its own callback: no delivery was needed.
    DELETE FROM deliveries d USING bet JOIN input i USING (attempt_id)
     WHERE d.operation_id = i.operation_id AND d.purpose = i.delivery_purpose
       -- IS NOT DISTINCT FROM keeps PostgreSQL from using the index of open deliveries: a plan made while there
       -- were none would scan a whole backlog. The index of the operation is used instead.
       AND d.state IS NOT DISTINCT FROM 'live' AND i.delivery_state = 'delivered'
  ), guarded AS (
    UPDATE deliveries d
       SET state = i.delivery_state, attempts = d.attempts + i.delivery_attempts,
           last_error = coalesce(i.delivery_error, d.last_error),
           next_attempt_at = clock_timestamp() + make_interval(secs => i.retry_seconds),
           -- A person had it sent again and its outcome is unknown: sending it once more needs a new decision.
           resolved_by = CASE WHEN i.settlement = 'unknown' THEN NULL ELSE d.resolved_by END,
           settled_at = CASE WHEN i.delivery_state <> 'pending' THEN clock_timestamp() END
      FROM bet JOIN input i USING (attempt_id)
     WHERE d.operation_id = i.operation_id AND d.purpose = i.delivery_purpose
       AND (d.state IS NOT DISTINCT FROM 'pending'
            OR d.state IS NOT DISTINCT FROM 'live' AND i.delivery_state <> 'delivered')
  ), taken_over AS (
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, attempts,
                            transaction_time, settle_amount, settle_type, last_error, held_ms,
                            next_attempt_at, dead_at, settled_at)
    SELECT i.operation_id, bet.operator_id, i.transaction_id, i.promised, bet.promised_state, 1,
           i.promised_time, i.settle_amount, i.settle_type, i.error, ${heldMs('bet.operator_id')},
           clock_timestamp() + make_interval(secs => i.retry_seconds),
           clock_timestamp() + make_interval(secs => i.horizon_seconds + i.retry_seconds),
           CASE WHEN bet.promised_state <> 'pending' THEN clock_timestamp() END
      FROM bet JOIN input i USING (attempt_id)
     -- No caller is answered with a dead letter, so it is never too late for one.
     WHERE i.promised IS NOT NULL AND (NOT i.is_late OR i.promised_state = 'dead')
    ON CONFLICT (operation_id, purpose) DO NOTHING
  )
  ${WRITTEN_AND_LOCKED}`;

const writtenOf = (row: Columns) => ({
  attemptId: row.text('attempt_id'),
  isLate: row.bool('is_late'),
});

const finishedOf = (row: Columns) => ({ ...writtenOf(row), isFree: row.bool('is_free') });

/** Outcomes of attempts, any number at once; each is written only while its attempt owns the bet. */
export const FINISH = batchStatement(
  'bet-finish',
  OUTCOME_PARAMETERS,
  // Even if its lease has ended and the bet was freed: then the answer does not change it, but people must see it.
  TEXT.replace(':attempts', 'input i LEFT JOIN bet USING (attempt_id)'),
  finishedOf,
);

/**
 * For repeating a statement of which it is not known whether it was committed: whatever that one wrote, or still
 * writes, is not written twice.
 */
export const FINISH_AGAIN = batchStatement(
  'bet-finish-again',
  OUTCOME_PARAMETERS,
  TEXT.replace(':attempts', 'input i JOIN bet USING (attempt_id)'),
  finishedOf,
);

/**
 * The recorded outcomes that callers wait for: the first attempt of the operation that their callback began.
 * There is no row for an outcome that was not written, or that was not an attempt.
 */
export const LOOK_UP_OUTCOMES = batchStatement(
  'bet-look-up-outcomes',
  ANSWERED_PARAMETERS,
  `
  SELECT i.attempt_id, (a.answer_status, a.answer_body) = (i.status_if_late, i.body_if_late) AS is_late
    FROM :input
    JOIN operations o ON o.id = i.operation_id AND o.attempt_id = i.attempt_id
    JOIN attempts a ON a.operation_id = o.id AND a.number = 1 AND a.answer_status IS NOT NULL
   WHERE i.was_tried`,
  writtenOf,
);
