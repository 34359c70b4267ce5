import type { Bet, LateEffect, LateOperation, Rollback } from './bet.ts';
import type { BetChange, Conclusion } from './conclude.ts';
import { afterOneConfirmation, CONFIRMATIONS } from './confirm.ts';
import type { AfterAttempt, DeliveryPurpose } from './delivery.ts';
import type { BetOperation } from './operation.ts';

/* A bet after an attempt. If it has changed since it was read, the journal reads it and decides again. */

/** An attempt that has ended, and the changes by its wallet's answer. */
export interface EndedAttempt {
  readonly operationId: string;
  readonly change: BetChange;
  /** Undefined: no delivery was attempted. */
  readonly delivery:
    | {
        readonly purpose: DeliveryPurpose;
        readonly after: AfterAttempt;
        /** The time in the promise that the service got. */
        readonly promisedTime: string;
      }
    | undefined;
  /** The caller was answered before the outcome was written: that answer counts (I3, I11). */
  readonly isLate: boolean;
  /** How long after an unknown outcome the standing operation is confirmed. */
  readonly confirmAfterMs: number;
}

/** A bet without its attempt, as it is to be written. */
export interface FreedBet {
  readonly bet: Bet;
  /** Whether `bet.late` starts now, by PostgreSQL's clock; otherwise its time stays. */
  readonly isLateNow: boolean;
  /** Until the standing operation is confirmed; undefined: as planned before. */
  readonly confirmInMs: number | undefined;
}

type LatePart = Omit<FreedBet, 'bet'> & Pick<Bet, 'late'>;

/** The bet after the outcome of its attempt. */
export function afterOutcome(bet: Bet, ended: EndedAttempt): FreedBet {
  const { change, isLate, operationId } = ended;
  const { late, ...timing } = latePart(bet, ended);
  return {
    ...timing,
    bet: {
      ...bet,
      place: change.place ?? bet.place,
      placeAnsweredUnknown: bet.placeAnsweredUnknown || (isLate && isPlaceMissed(change.place)),
      settlement: change.settlement ?? bet.settlement,
      rollback: rollbackAfter(bet.rollback, change.rollback, isLate),
      update: updateAfter(bet, ended),
      standingOperationId: change.stands === true ? operationId : bet.standingOperationId,
      late,
      busy: undefined,
    },
  };
}

/** The bet after an attempt whose process was lost: its outcome is unknown, and only that process knew the result. */
export function afterLapse(bet: Bet): FreedBet {
  const operation = bet.busy?.operation;
  const isResultLost = operation === 'settle' || operation === 'unsettle';
  const isConfirmationLost =
    operation === 'confirm' && bet.rollback.kind !== 'confirmed' && bet.late !== undefined;
  return {
    isLateNow: isResultLost || isConfirmationLost,
    // The sweep decides when the standing operation is confirmed.
    confirmInMs: isResultLost ? 0 : undefined,
    bet: {
      ...bet,
      place: operation === 'place' ? { kind: 'unknown' } : bet.place,
      settlement: isResultLost
        ? { kind: 'unknown', attempted: { kind: 'several' } }
        : bet.settlement,
      late: isResultLost
        ? lateNow({ kind: 'several' })
        : isConfirmationLost
          ? becomesSeveral(bet.late)
          : bet.late,
      busy: undefined,
    },
  };
}

/** A confirmation counts only while its operation stands: a person may have changed that. */
function latePart(
  bet: Bet,
  { change, delivery, operationId, confirmAfterMs }: EndedAttempt,
): LatePart {
  const confirmation = delivery?.purpose === 'confirm' ? delivery.after : undefined;
  const concernsStanding = confirmation === undefined || bet.standingOperationId === operationId;
  if (change.late !== undefined && concernsStanding) {
    return { late: lateNow(change.late), isLateNow: true, confirmInMs: confirmAfterMs };
  }
  if (confirmation === undefined || bet.late === undefined) return { late: bet.late, ...AS_BEFORE };
  // Also over a newer standing operation: a person's decision, or a rollback that did not wait for the confirmation.
  const isLost = mayLandLate(confirmation) && bet.rollback.kind !== 'confirmed';
  const late = isLost ? becomesSeveral(bet.late) : bet.late;
  if (!hasEnded(confirmation)) return { late, isLateNow: isLost, confirmInMs: undefined };
  const { left, dueInMs: confirmInMs } = afterOneConfirmation({ late });
  return {
    ...{ isLateNow: isLost, confirmInMs },
    late: left === 0 ? undefined : { ...late, confirmationsLeft: left },
  };
}

const AS_BEFORE = { isLateNow: false, confirmInMs: undefined } as const;

/** PostgreSQL writes the time. */
function lateNow(operation: LateOperation): LateEffect {
  return { operation, atMs: 0, confirmationsLeft: CONFIRMATIONS, isConfirming: false };
}

function becomesSeveral<L extends LateEffect | undefined>(late: L): L {
  return late && { ...late, operation: { kind: 'several' } };
}

function hasEnded({ kind }: AfterAttempt): boolean {
  return kind === 'delivered' || kind === 'refused' || kind === 'dead';
}

/** Whether an attempt got no answer, so that it may take effect over a newer operation. */
function mayLandLate(after: AfterAttempt): boolean {
  return after.kind === 'pending' || (after.kind === 'refused' && after.isLost === true);
}

/** If it is too late, the caller got the promise, and the promise's time stays the answer. */
function rollbackAfter(before: Rollback, change: Rollback | undefined, isLate: boolean): Rollback {
  if (change === undefined) return before;
  const isAnsweredByPromise = isLate && change.kind === 'confirmed' && before.kind !== 'none';
  return isAnsweredByPromise ? { ...before, kind: 'confirmed' } : change;
}

/** The attempted update is the last one, unless another was promised since, even at the same time. */
function updateAfter(
  bet: Bet,
  { change, delivery, operationId, isLate }: EndedAttempt,
): Bet['update'] {
  const { update } = change;
  if (update === undefined || (isLate && update.key === bet.update?.key)) return bet.update;
  const isNewerPromised = bet.deliveries.some(
    (one) => one.operation === 'update' && BigInt(one.operationId) > BigInt(operationId),
  );
  const isLast = bet.update?.transactionTime === delivery?.promisedTime && !isNewerPromised;
  return isLast ? update : bet.update;
}

/** The new promise's state; undefined: too late for its caller. A dead letter answers nobody, and is never too late. */
export function promiseAfter(
  { rollback }: Bet,
  promised: 'pending' | 'dead',
  isLate: boolean,
): 'pending' | 'dead' | 'superseded' | undefined {
  if (promised === 'dead') return 'dead';
  if (isLate) return undefined;
  // It would reach the wallet after a rollback that did not wait for it.
  return rollback.kind === 'none' ? 'pending' : 'superseded';
}

/** A caller whose answer differs from its operation's outcome. */
export interface AnsweredOtherwise {
  readonly operation: BetOperation;
  /** The `transactionTime` of the promise in that answer. */
  readonly promisedTime?: string;
  /** The meaning of the wallet's answer, if it was called. */
  readonly conclusion?: Conclusion;
}

/** The bet by the answer that its caller got (I3); undefined if that changes nothing. */
export function byAnswerGiven(
  bet: Bet,
  { operation, promisedTime, conclusion }: AnsweredOtherwise,
): Bet | undefined {
  if (operation === 'place') {
    return isPlaceMissed(bet.place) ? { ...bet, placeAnsweredUnknown: true } : undefined;
  }
  if (promisedTime === undefined) return undefined;
  if (operation === 'rollback' && bet.rollback.kind === 'confirmed') {
    return { ...bet, rollback: { kind: 'confirmed', transactionTime: promisedTime } };
  }
  const update = conclusion?.outcome === 'accepted' ? conclusion.change.update : undefined;
  return update !== undefined && update.key === bet.update?.key
    ? { ...bet, update: { ...update, transactionTime: promisedTime } }
    : undefined;
}

/** Whether the service was answered 100 for a place that its wallet answered definitely. */
export function isPlaceMissed(place: Bet['place'] | undefined): boolean {
  return place?.kind === 'accepted' || place?.kind === 'declined';
}
