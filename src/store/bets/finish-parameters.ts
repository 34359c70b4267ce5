import { unreachable } from '../../domain/unreachable.ts';
import type { Parameters } from '../sql/statement.ts';
import { attemptParameters } from './attempt-record.ts';
import { lateColumns, placeColumns, rollbackColumns, settlementColumns } from './columns.ts';
import type { DeliveryOutcome, Outcome } from './outcome.ts';

/** The bet's next state; null leaves a column as it is. */
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

/** Identifies the outcome, and the answer its caller has already got if it is written too late. */
export const ANSWERED_PARAMETERS = {
  attempt_id: ['uuid', ({ attemptId }) => attemptId],
  operation_id: ['bigint', ({ operationId }) => operationId],
  // If no byte was sent, it does not count as an attempt and gets no row.
  was_tried: ['bool', ({ delivery }) => afterOf(delivery)?.kind !== 'unsent'],
  status_if_late: ['int', ({ caller }) => caller?.lateAnswer.status ?? null],
  body_if_late: ['text', ({ caller }) => caller?.lateAnswer.body ?? null],
} satisfies Parameters<Outcome>;

/**
 * An outcome as columns of `input`. "Late" has two unrelated meanings here. `…_if_late`: the outcome is written only
 * after its caller got another answer. `late_…`, as in `bets`: the attempted operation may still take
 * effect at the wallet (`LateEffect`).
 */
export const OUTCOME_PARAMETERS: Parameters<Outcome> = {
  transaction_id: ['text', ({ transactionId }) => transactionId],
  ...ANSWERED_PARAMETERS,
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
  delivery_attempts: ['int', ({ delivery }) => attemptsAdded(delivery)],
  delivery_error: [
    'text',
    ({ delivery, attempt }) => (keepsError(delivery) ? (attempt.error ?? null) : null),
  ],
  retry_seconds: ['float8', ({ delivery }) => retrySeconds(delivery)],
  confirmation_ended: ['bool', ({ delivery }) => hasConfirmationEnded(delivery)],
  confirmation_lost: ['bool', ({ delivery }) => isConfirmationLost(delivery)],
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

/** The delivery's state after its attempt; null if the attempt had no delivery. */
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

/** The change to the delivery's attempt count. A drain already counted its attempt when it claimed the row. */
function attemptsAdded(delivery: DeliveryOutcome): number {
  if (delivery.kind !== 'after') return 0;
  const wasTried = delivery.after.kind !== 'unsent';
  if (delivery.isCounted) return wasTried ? 0 : -1;
  return wasTried ? 1 : 0;
}

/** Seconds from now until the delivery is due again. */
function retrySeconds(delivery: DeliveryOutcome): number {
  if (delivery.kind === 'new') return delivery.retryInMs / 1000;
  const after = afterOf(delivery);
  return after !== undefined && 'retryInMs' in after ? after.retryInMs / 1000 : 0;
}

/** Whether the attempt's error is stored as the delivery's `last_error`. */
function keepsError(delivery: DeliveryOutcome): boolean {
  const kind = afterOf(delivery)?.kind;
  return kind === 'pending' || kind === 'dead' || kind === 'refused';
}

/** Whether a confirmation has ended, in any way: then one of the two that its bet needs is done. */
function hasConfirmationEnded(delivery: DeliveryOutcome): boolean {
  if (delivery.kind !== 'after' || delivery.purpose !== 'confirm') return false;
  const { kind } = delivery.after;
  return kind === 'delivered' || kind === 'refused' || kind === 'dead';
}

/** Whether a confirmation's attempt got no answer: it may take effect late too, over a newer operation. */
function isConfirmationLost(delivery: DeliveryOutcome): boolean {
  if (delivery.kind !== 'after' || delivery.purpose !== 'confirm') return false;
  const { after } = delivery;
  return after.kind === 'pending' || (after.kind === 'refused' && after.isLost === true);
}
