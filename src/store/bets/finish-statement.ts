import { CONFIRMATIONS } from '../../domain/confirm.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { heldMs } from '../deliveries/held-time.ts';
import { batchStatement, type Columns, type Parameters } from '../statement.ts';
import { ATTEMPT_COLUMNS, attemptParameters } from './attempt.ts';
import { lateColumns, placeColumns, rollbackColumns, settlementColumns } from './columns.ts';
import { inputOfFree, WRITTEN_AND_LOCKED } from './locked-row.ts';
import type { DeliveryOutcome, Outcome } from './outcome.ts';

/** What of a bet an outcome writes; null leaves it as it is. */
const STATE: Parameters<Outcome> = {
  settlement: ['text', ({ change }) => settlementOf(change)?.settlement ?? null],
  settlement_amount: ['text', ({ change }) => settlementOf(change)?.amount ?? null],
  settlement_type: ['text', ({ change }) => settlementOf(change)?.type ?? null],
  settlement_time: ['text', ({ change }) => settlementOf(change)?.time ?? null],
  rollback: ['text', ({ change }) => rollbackOf(change)?.rollback ?? null],
  rollback_time: ['text', ({ change }) => rollbackOf(change)?.time ?? null],
  rollback_code: ['int', ({ change }) => rollbackOf(change)?.code ?? null],
  rollback_message: ['text', ({ change }) => rollbackOf(change)?.message ?? null],
  place: ['text', ({ change }) => placeOf(change)?.place ?? null],
  place_time: ['text', ({ change }) => placeOf(change)?.time ?? null],
  place_code: ['int', ({ change }) => placeOf(change)?.code ?? null],
  place_message: ['text', ({ change }) => placeOf(change)?.message ?? null],
  update_key: ['text', ({ change }) => change.update?.key ?? null],
  update_time: ['text', ({ change }) => change.update?.transactionTime ?? null],
};

const settlementOf = ({ settlement }: Outcome['change']) =>
  settlement && settlementColumns(settlement);
const rollbackOf = ({ rollback }: Outcome['change']) => rollback && rollbackColumns(rollback);
const placeOf = ({ place }: Outcome['change']) => place && placeColumns(place);
const lateOf = ({ late }: Outcome['change']) => late && lateColumns(late);

/** Which outcome it is, and what its caller is answered where it comes too late. */
const TOLD = {
  attempt_id: ['uuid', ({ attemptId }) => attemptId],
  operation_id: ['bigint', ({ operationId }) => operationId],
  // Nothing left: such an attempt is none.
  was_tried: ['bool', ({ delivery }) => afterOf(delivery)?.kind !== 'unsent'],
  late_status: ['int', ({ caller }) => caller?.lateAnswer.status ?? null],
  late_body: ['text', ({ caller }) => caller?.lateAnswer.body ?? null],
} satisfies Parameters<Outcome>;

const PARAMETERS: Parameters<Outcome> = {
  transaction_id: ['text', ({ transactionId }) => transactionId],
  ...TOLD,
  ...STATE,
  stands: ['bool', ({ change }) => change.stands === true],
  late_kind: ['text', ({ change }) => lateOf(change)?.kind ?? null],
  late_amount: ['text', ({ change }) => lateOf(change)?.amount ?? null],
  late_type: ['text', ({ change }) => lateOf(change)?.type ?? null],
  confirm_seconds: ['float8', ({ confirmAfterMs }) => confirmAfterMs / 1000],
  ...attemptParameters<Outcome>(({ attempt }) => attempt),
  before: ['timestamptz', ({ caller }) => caller?.before ?? null],
  delivery_purpose: ['text', ({ delivery }) => purposeOf(delivery)],
  delivery_state: ['text', ({ delivery }) => stateAfter(delivery)],
  delivery_attempts: ['int', ({ delivery }) => attemptsOf(delivery)],
  delivery_error: [
    'text',
    ({ delivery, attempt }) => (errs(delivery) ? (attempt.error ?? null) : null),
  ],
  retry_seconds: ['float8', ({ delivery }) => retrySeconds(delivery)],
  // A confirmation that has ended, however: one of its bet's is done.
  is_confirmation: ['bool', ({ delivery }) => isConfirmation(delivery)],
  // One that was tried and not confirmed may take effect late as well, over what stands by then.
  confirms_late: ['bool', ({ delivery }) => confirmsLate(delivery)],
  promised: ['text', ({ delivery }) => promiseOf(delivery)?.operation ?? null],
  promised_state: ['text', ({ delivery }) => promiseOf(delivery)?.state ?? null],
  promised_time: ['text', ({ delivery }) => promiseOf(delivery)?.transactionTime ?? null],
  horizon_seconds: ['float8', ({ delivery }) => (promiseOf(delivery)?.horizonMs ?? 0) / 1000],
  settle_amount: ['text', ({ delivery }) => promiseOf(delivery)?.settle?.amount ?? null],
  settle_type: ['text', ({ delivery }) => promiseOf(delivery)?.settle?.resultType ?? null],
};

function afterOf(delivery: DeliveryOutcome) {
  return delivery.kind === 'after' ? delivery.after : undefined;
}

function purposeOf(delivery: DeliveryOutcome): string | null {
  return delivery.kind === 'after' ? delivery.purpose : null;
}

function promiseOf(delivery: DeliveryOutcome) {
  return delivery.kind === 'new' ? delivery.delivery : undefined;
}

/** The state that a delivery has after its attempt. */
function stateAfter(delivery: DeliveryOutcome): string | null {
  const after = afterOf(delivery);
  if (after === undefined) return null;
  switch (after.kind) {
    case 'delivered':
    case 'refused':
    case 'dead':
    case 'pending':
      return after.kind;
    case 'unsent':
      return 'pending';
    default:
      return unreachable(after);
  }
}

/** A drain counts its attempt when it takes the row, a callback only here. */
function attemptsOf(delivery: DeliveryOutcome): number {
  if (delivery.kind !== 'after') return 0;
  const wasTried = delivery.after.kind !== 'unsent';
  if (delivery.isCounted) return wasTried ? 0 : -1;
  return wasTried ? 1 : 0;
}

function retrySeconds(delivery: DeliveryOutcome): number {
  if (delivery.kind === 'new') return delivery.retryInMs / 1000;
  const after = afterOf(delivery);
  return after !== undefined && 'retryInMs' in after ? after.retryInMs / 1000 : 0;
}

function errs(delivery: DeliveryOutcome): boolean {
  const kind = afterOf(delivery)?.kind;
  return kind === 'pending' || kind === 'dead' || kind === 'refused';
}

function isConfirmation(delivery: DeliveryOutcome): boolean {
  if (delivery.kind !== 'after' || delivery.purpose !== 'confirm') return false;
  const { kind } = delivery.after;
  return kind === 'delivered' || kind === 'refused' || kind === 'dead';
}

function confirmsLate(delivery: DeliveryOutcome): boolean {
  if (delivery.kind !== 'after' || delivery.purpose !== 'confirm') return false;
  const { after } = delivery;
  return after.kind === 'pending' || (after.kind === 'refused' && after.isLost === true);
}

/** What of a bet is written together, or left as it is. */
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

/** A confirmation says something of the bet only as long as what it confirms stands: a person may have said otherwise. */
const SPEAKS = `(i.delivery_purpose IS DISTINCT FROM 'confirm' OR b.standing_operation_id = i.operation_id)`;
const SETS_LATE = `i.late_kind IS NOT NULL AND ${SPEAKS}`;

const ADDS_LATE = `i.confirms_late AND ${SPEAKS} AND b.late_kind IS NOT NULL AND b.rollback = 'none'`;

/** A column of what may take effect late; of a lost confirmation it is not known by itself. */
const lateColumn = (column: string, several: string) =>
  `${column} = CASE WHEN ${SETS_LATE} THEN i.${column} WHEN ${ADDS_LATE} THEN ${several}
                    ELSE b.${column} END`;

/**
 * Whether the bet's last update is still the one that was attempted: another may have been promised since, by a caller
 * that could not wait any longer, and that is the last one then, whatever became of this; also where both have the same time.
 */
const IS_LAST_UPDATE = `coalesce(b.update_time = (
             SELECT d.transaction_time FROM deliveries d
              WHERE d.operation_id = i.operation_id AND d.purpose = i.delivery_purpose), false)
           AND NOT EXISTS (SELECT FROM deliveries d WHERE d.transaction_id = b.transaction_id
                 AND d.state IN ('live', 'pending') AND d.operation = 'update' AND d.operation_id > i.operation_id)`;

/** `:attempts`: of which of them it is put on record that they were tried. */
const TEXT = `
  ${inputOfFree(`
        SELECT d.id FROM deliveries d
         WHERE d.operation_id = g.operation_id AND d.purpose = g.delivery_purpose`)}, bet AS (
    UPDATE bets b
       SET ${state.join(',\n           ')},
           place_answered_unknown = b.place_answered_unknown
             OR (i.is_late AND coalesce(i.place IN ('accepted', 'declined'), false)),
           rollback = coalesce(i.rollback, b.rollback),
           -- Answered with the promise meanwhile: its time stays the answer.
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
           -- The second confirmation has its distance from a lost attempt of the first as well.
           late_at = CASE WHEN ${SETS_LATE} OR ${ADDS_LATE} THEN clock_timestamp() ELSE b.late_at END,
           confirm_left = CASE WHEN ${SETS_LATE} THEN ${CONFIRMATIONS}
                               WHEN i.is_confirmation THEN greatest(b.confirm_left - 1, 0)
                               ELSE b.confirm_left END,
           confirm_at = CASE WHEN ${SETS_LATE}
                             THEN clock_timestamp() + make_interval(secs => i.confirm_seconds)
                             WHEN NOT i.is_confirmation THEN b.confirm_at
                             WHEN b.confirm_left > 1 THEN clock_timestamp() END,
           busy_operation = NULL, busy_attempt = NULL, busy_until = NULL, version = b.version + 1
      FROM input i
     WHERE b.transaction_id = i.transaction_id AND b.busy_attempt = i.attempt_id
    -- A result that is promised only now would be brought behind the rollback that did not wait.
    RETURNING i.attempt_id, b.operator_id, i.is_late,
              CASE WHEN b.rollback <> 'none' AND i.promised_state = 'pending' THEN 'superseded'
                   ELSE i.promised_state END AS promised_state
  ), attempt AS (
    INSERT INTO attempts (operation_id, number, ${ATTEMPT_COLUMNS.join(', ')}, confirmed)
    SELECT i.operation_id,
           1 + coalesce((SELECT max(a.number) FROM attempts a
                          WHERE a.operation_id = i.operation_id), 0),
           i.started_at, i.latency_ms, i.result, i.status, i.code, i.error,
           i.wallet_type, i.wallet_body, i.wallet_truncated,
           CASE WHEN i.is_late THEN i.late_status ELSE i.answer_status END,
           CASE WHEN i.is_late THEN i.late_body ELSE i.answer_body END,
           -- For the books: a wallet has confirmed it, and this bet stands by that.
           (i.stands OR coalesce(i.place = 'accepted', false)) AND bet.attempt_id IS NOT NULL
      FROM :attempts WHERE i.was_tried
    ON CONFLICT DO NOTHING
  ), confirmed_live AS (
    -- Confirmed within its own callback: it never was a delivery.
    DELETE FROM deliveries d USING bet JOIN input i USING (attempt_id)
     WHERE d.operation_id = i.operation_id AND d.purpose = i.delivery_purpose
       -- By the operation, whatever the state: of open deliveries there is an index too, and a plan that
       -- was made while it was empty would read all of a backlog.
       AND d.state IS NOT DISTINCT FROM 'live' AND i.delivery_state = 'delivered'
  ), guarded AS (
    UPDATE deliveries d
       SET state = i.delivery_state, attempts = d.attempts + i.delivery_attempts,
           last_error = coalesce(i.delivery_error, d.last_error),
           next_attempt_at = clock_timestamp() + make_interval(secs => i.retry_seconds),
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
     -- A dead letter is told to nobody: it is there however late.
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
  PARAMETERS,
  // Also when the lease had ended: a late answer changes nothing, but people must see it.
  TEXT.replace(':attempts', 'input i LEFT JOIN bet USING (attempt_id)'),
  finishedOf,
);

/**
 * The same once more, where nobody knows whether an earlier statement was committed: of what that
 * has written, or still writes first, nothing is written twice.
 */
export const FINISH_AGAIN = batchStatement(
  'bet-finish-again',
  PARAMETERS,
  TEXT.replace(':attempts', 'input i JOIN bet USING (attempt_id)'),
  finishedOf,
);

/**
 * What stands on record of outcomes that callers wait for: the first attempt at the operation that
 * their callback began is theirs. There is no row for an outcome that was not written, or was none.
 */
export const LOOK_UP_OUTCOMES = batchStatement(
  'bet-look-up-outcomes',
  TOLD,
  `
  SELECT i.attempt_id, (a.answer_status, a.answer_body) = (i.late_status, i.late_body) AS is_late
    FROM :input
    JOIN operations o ON o.id = i.operation_id AND o.attempt_id = i.attempt_id
    JOIN attempts a ON a.operation_id = o.id AND a.number = 1 AND a.answer_status IS NOT NULL
   WHERE i.was_tried`,
  writtenOf,
);
