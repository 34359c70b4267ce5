import type { FreedBet } from '../../domain/finish.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { type Parameters, parametersWithin } from '../sql/statement.ts';
import { attemptParameters } from './attempt-record.ts';
import { freedParameters } from './columns.ts';
import type { DeliveryOutcome, Outcome } from './outcome.ts';

/** An outcome, and the decision about its bet and its promise. */
export interface DecidedOutcome {
  readonly outcome: Outcome;
  /** Of the bet that the decision is based on. */
  readonly version: number;
  readonly freed: FreedBet;
  /** The state of a promise made after the attempt; undefined: none is made. */
  readonly promise: 'pending' | 'dead' | 'superseded' | undefined;
  /** Its caller was answered already, so it may be written at any time. */
  readonly isLate: boolean;
}

/** An attempt for the record, with its caller's answer. */
export const ATTEMPT_PARAMETERS: Parameters<DecidedOutcome> = {
  attempt_id: ['uuid', ({ outcome }) => outcome.attemptId],
  operation_id: ['bigint', ({ outcome }) => outcome.operationId],
  // If no byte was sent, it does not count as an attempt and gets no row.
  was_tried: ['bool', ({ outcome }) => afterOf(outcome.delivery)?.kind !== 'unsent'],
  ...attemptParameters<DecidedOutcome>(({ outcome: { attempt, caller }, isLate }) =>
    isLate ? { ...attempt, answer: caller?.lateAnswer } : attempt,
  ),
};

const DELIVERY: Parameters<Outcome> = {
  delivery_purpose: ['text', ({ delivery }) => purposeOf(delivery)],
  delivery_state: ['text', ({ delivery }) => stateAfter(delivery)],
  delivery_attempts: ['int', ({ delivery }) => attemptsAdded(delivery)],
  delivery_error: [
    'text',
    ({ delivery, attempt }) => (keepsError(delivery) ? (attempt.error ?? null) : null),
  ],
  retry_seconds: ['float8', ({ delivery }) => retrySeconds(delivery)],
  // A person had it sent again with an unknown outcome: once more needs a new decision.
  needs_decision: ['bool', ({ change }) => change.settlement?.kind === 'unknown'],
};

export const OUTCOME_PARAMETERS: Parameters<DecidedOutcome> = {
  ...ATTEMPT_PARAMETERS,
  transaction_id: ['text', ({ outcome }) => outcome.transactionId],
  version: ['int', ({ version }) => version],
  before: [
    'timestamptz',
    ({ outcome, isLate }) => (isLate ? null : (outcome.caller?.before ?? null)),
  ],
  ...freedParameters<DecidedOutcome>(({ freed }) => freed),
  // For the books: a wallet has confirmed the operation, and the bet's state is based on it.
  confirmed: [
    'bool',
    ({ outcome: { change } }) => change.stands === true || change.place?.kind === 'accepted',
  ],
  ...parametersWithin(DELIVERY, ({ outcome }: DecidedOutcome) => outcome),
  promise: ['text', ({ promise }) => promise ?? null],
  promised: ['text', ({ outcome }) => promiseOf(outcome)?.operation ?? null],
  promised_time: ['text', ({ outcome }) => promiseOf(outcome)?.transactionTime ?? null],
  horizon_seconds: ['float8', ({ outcome }) => (promiseOf(outcome)?.horizonMs ?? 0) / 1000],
  settle_amount: ['text', ({ outcome }) => promiseOf(outcome)?.settle?.amount ?? null],
  settle_type: ['text', ({ outcome }) => promiseOf(outcome)?.settle?.resultType ?? null],
};

function afterOf(delivery: DeliveryOutcome) {
  return delivery.kind === 'after' ? delivery.after : undefined;
}

function purposeOf(delivery: DeliveryOutcome): string | null {
  return delivery.kind === 'after' ? delivery.purpose : null;
}

function promiseOf({ delivery }: Outcome) {
  return delivery.kind === 'new' ? delivery.delivery : undefined;
}

/** The delivery's state after its attempt; null: it had none, `unneeded`: the callback's own attempt was confirmed. */
function stateAfter(delivery: DeliveryOutcome): string | null {
  if (delivery.kind !== 'after') return null;
  const { after, isCounted } = delivery;
  switch (after.kind) {
    case 'delivered':
      return isCounted ? 'delivered' : 'unneeded';
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

/** A drain already counted its attempt when it claimed the row. */
function attemptsAdded(delivery: DeliveryOutcome): number {
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

/** Whether the attempt's error becomes the delivery's `last_error`. */
function keepsError(delivery: DeliveryOutcome): boolean {
  const kind = afterOf(delivery)?.kind;
  return kind === 'pending' || kind === 'dead' || kind === 'refused';
}
