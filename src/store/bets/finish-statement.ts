import { heldMs } from '../deliveries/held-time.ts';
import { batchStatement, noRow, type Parameters } from '../sql/statement.ts';
import { ATTEMPT_COLUMNS } from './attempt-record.ts';
import { SET_FREED } from './columns.ts';
import { ATTEMPT_PARAMETERS, OUTCOME_PARAMETERS } from './finish-parameters.ts';
import { inputOfFree, WHAT_BECAME_OF_GIVEN, whatBecame } from './locked-row.ts';
import type { Outcome } from './outcome.ts';

/** Records each attempt as the next one of its operation. @param from rows `i` of attempts, as SQL */
const insertAttempts = (confirmed: string, from: string) => `
    INSERT INTO attempts (operation_id, number, ${ATTEMPT_COLUMNS.join(', ')}, confirmed)
    SELECT i.operation_id,
           1 + coalesce((SELECT max(a.number) FROM attempts a
                          WHERE a.operation_id = i.operation_id), 0),
           ${ATTEMPT_COLUMNS.map((column) => `i.${column}`).join(', ')}, ${confirmed}
      FROM ${from} WHERE i.was_tried
    ON CONFLICT DO NOTHING`;

/** Written only while the attempt owns the bet, the bet is unchanged, and the caller waits. */
export const FINISH = batchStatement(
  'bet-finish',
  OUTCOME_PARAMETERS,
  `
  ${inputOfFree(`
        SELECT d.id FROM deliveries d
         WHERE d.operation_id = g.operation_id AND d.purpose = g.delivery_purpose`)}, bet AS (
    UPDATE bets b
       SET ${SET_FREED}
      FROM input i
     WHERE b.transaction_id = i.transaction_id AND b.busy_attempt = i.attempt_id
       AND b.version = i.version AND NOT i.is_late
    RETURNING i.attempt_id, b.operator_id
  ), attempt AS (${insertAttempts('i.confirmed', 'input i JOIN bet USING (attempt_id)')}
  ), unneeded AS (
    -- Confirmed within its own callback. IS NOT DISTINCT FROM keeps PostgreSQL from using the index of open
    -- deliveries: a plan made while there were none would scan a whole backlog.
    DELETE FROM deliveries d USING bet JOIN input i USING (attempt_id)
     WHERE d.operation_id = i.operation_id AND d.purpose = i.delivery_purpose
       AND d.state IS NOT DISTINCT FROM 'live' AND i.delivery_state = 'unneeded'
  ), attempted AS (
    UPDATE deliveries d
       SET state = i.delivery_state, attempts = d.attempts + i.delivery_attempts,
           last_error = coalesce(i.delivery_error, d.last_error),
           next_attempt_at = clock_timestamp() + make_interval(secs => i.retry_seconds),
           resolved_by = CASE WHEN i.needs_decision THEN NULL ELSE d.resolved_by END,
           settled_at = CASE WHEN i.delivery_state <> 'pending' THEN clock_timestamp() END
      FROM bet JOIN input i USING (attempt_id)
     WHERE d.operation_id = i.operation_id AND d.purpose = i.delivery_purpose
       AND (d.state IS NOT DISTINCT FROM 'pending' OR d.state IS NOT DISTINCT FROM 'live')
       AND i.delivery_state <> 'unneeded'
  ), promised AS (
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, attempts,
                            transaction_time, settle_amount, settle_type, last_error, held_ms,
                            next_attempt_at, dead_at, settled_at)
    SELECT i.operation_id, bet.operator_id, i.transaction_id, i.promised, i.promise, 1,
           i.promised_time, i.settle_amount, i.settle_type, i.error, ${heldMs('bet.operator_id')},
           clock_timestamp() + make_interval(secs => i.retry_seconds),
           clock_timestamp() + make_interval(secs => i.horizon_seconds + i.retry_seconds),
           CASE WHEN i.promise <> 'pending' THEN clock_timestamp() END
      FROM bet JOIN input i USING (attempt_id) WHERE i.promise IS NOT NULL
    ON CONFLICT (operation_id, purpose) DO NOTHING
  )
  ${WHAT_BECAME_OF_GIVEN}`,
  whatBecame,
);

/** Records attempts that lost their bets: the answers do not change these, but people must see them. */
export const RECORD_LOST = batchStatement(
  'bet-record-lost',
  ATTEMPT_PARAMETERS,
  `WITH input AS MATERIALIZED (SELECT i.* FROM :input)${insertAttempts('false', 'input i')}`,
  noRow,
);

/** The first attempts of the operations that waiting callers' callbacks began; no row if there is no such outcome. */
export const LOOK_UP_OUTCOMES = batchStatement(
  'bet-look-up-outcomes',
  {
    attempt_id: ['uuid', ({ attemptId }) => attemptId],
    operation_id: ['bigint', ({ operationId }) => operationId],
    status_if_late: ['int', ({ caller }) => caller?.lateAnswer.status ?? null],
    body_if_late: ['text', ({ caller }) => caller?.lateAnswer.body ?? null],
  } satisfies Parameters<Outcome>,
  `
  SELECT i.attempt_id, (a.answer_status, a.answer_body) = (i.status_if_late, i.body_if_late) AS is_late
    FROM :input
    JOIN operations o ON o.id = i.operation_id AND o.attempt_id = i.attempt_id
    JOIN attempts a ON a.operation_id = o.id AND a.number = 1 AND a.answer_status IS NOT NULL`,
  (row) => ({ attemptId: row.text('attempt_id'), isLate: row.bool('is_late') }),
);
