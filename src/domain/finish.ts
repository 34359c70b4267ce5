import type { Bet, LateEffect, LateOperation, Rollback } from './bet.ts';
import type { BetChange, Conclusion } from './conclude.ts';
import { afterOneConfirmation, CONFIRMATIONS } from './confirm.ts';
import type { AfterAttempt, DeliveryPurpose } from './delivery.ts';
import type { BetOperation } from './operation.ts';

/*
 * What a bet is once an attempt has ended. The journal writes what is decided here if the bet is still as it was read;
 * otherwise it reads the bet, and this is decided again.
 */

/** An attempt that has ended, and what its wallet's answer changes. */
export interface EndedAttempt {
  readonly operationId: string;
  readonly change: BetChange;
  /** The delivery that was attempted; undefined: none. */
  readonly delivery:
    | {
        readonly purpose: DeliveryPurpose;
        readonly after: AfterAttempt;
        /** The time in the promise that the service was answered with. */
        readonly promisedTime: string;
      }
    | undefined;
  /** The caller was answered before the outcome could be written: that answer counts (I3, I11). */
  readonly isLate: boolean;
  /** How long after an unknown outcome the standing operation is confirmed. */
  readonly confirmAfterMs: number;
}

/** A bet without its attempt, as it is to be written. */
export interface FreedBet {
  readonly bet: Bet;
  /** Whether `bet.late` dates from now, by PostgreSQL's clock; otherwise its time stays. */
  readonly isLateNow: boolean;
  /** How long until the standing operation is confirmed; undefined: as planned before. */
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

/**
 * What may take effect late, and when the standing operation is confirmed. A confirmation counts only while its
 * operation still stands: a person may have changed that meanwhile.
 */
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
  // Also over what stands by now: a person's word, or a rollback that did not wait for the confirmation.
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

/** The time is PostgreSQL's to write. */
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

/** Too late, the caller was answered with the promise, and its time stays the answer. */
function rollbackAfter(before: Rollback, change: Rollback | undefined, isLate: boolean): Rollback {
  if (change === undefined) return before;
  const isAnsweredByPromise = isLate && change.kind === 'confirmed' && before.kind !== 'none';
  return isAnsweredByPromise ? { ...before, kind: 'confirmed' } : change;
}

/**
 * The attempted update is the bet's last one unless another was promised since: its caller may have run out of time.
 * Then the other one is in force, whatever the outcome of this one, even if both have the same time.
 */
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

/**
 * What becomes of a promise made after an attempt; undefined: it is not made. A caller who was answered otherwise relies
 * on none, but nobody is answered with a dead letter, so it is never too late for one.
 */
export function promiseAfter(
  { rollback }: Bet,
  promised: 'pending' | 'dead',
  isLate: boolean,
): 'pending' | 'dead' | 'superseded' | undefined {
  if (promised === 'dead') return 'dead';
  if (isLate) return undefined;
  // It would be delivered after a rollback that did not wait for it.
  return rollback.kind === 'none' ? 'pending' : 'superseded';
}

/** A caller was answered otherwise than its operation's outcome says. */
export interface AnsweredOtherwise {
  readonly operation: BetOperation;
  /** The `transactionTime` in the answer of a promise. */
  readonly promisedTime?: string;
  /** What the wallet's answer meant, if it was called. */
  readonly conclusion?: Conclusion;
}

/** The bet by the answer that its caller really got (I3); undefined if that changes nothing. */
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

/** Whether a place answered 100 is unknown to the service, although its wallet gave a definite answer. */
export function isPlaceMissed(place: Bet['place'] | undefined): boolean {
  return place?.kind === 'accepted' || place?.kind === 'declined';
}
