import {
  type AttemptedResult,
  type Bet,
  type ResultType,
  type Settlement,
  standingResult,
} from './bet.ts';
import { CODES } from './codes.ts';
import { standingSettlement } from './conclude.ts';
import type { AttemptFacts } from './course.ts';
import type { DeliveryPurpose } from './delivery.ts';
import { type BetOperation, type DeliverableOperation, isResult } from './operation.ts';
import { unreachable } from './unreachable.ts';

/*
 * What people may do with a dead letter. The journal does not wait for dead letters, so later operations of the bet
 * may have overtaken one (I6).
 */

/** A delivery that was given up, and what is on record of its bet since. */
export interface DeadLetter {
  readonly operation: DeliverableOperation;
  readonly operationId: string;
  readonly purpose: DeliveryPurpose;
  /** Of its promise; for a settle or unsettle, of its result. */
  readonly transactionTime: string;
  /** Of a promised settle. A confirmation does not store it: the bet has it already. */
  readonly settle: { readonly amount: string; readonly resultType: ResultType } | undefined;
  /** The status that the service was answered with; undefined if that is not on record. */
  readonly answerStatus: number | undefined;
  /** Operations of the bet that came after it; those that agree in all of this count once. */
  readonly later: readonly LaterOperation[];
}

export interface LaterOperation {
  readonly operation: BetOperation;
  /** Answered from the journal. */
  readonly isCopy: boolean;
  /** The status recorded with itself, as for a copy; what an attempt was answered with is recorded with that. */
  readonly answerStatus: number | undefined;
  /** The answer bears the `transactionTime` of the dead letter: it is the answer to a copy of its request. */
  readonly bearsItsTime: boolean;
  readonly attempts: readonly AttemptFacts[];
}

/** What these rules look at of its bet. */
export interface BetOfDeadLetter extends Pick<Bet, 'settlement' | 'standingOperationId'> {
  readonly rollback: Bet['rollback']['kind'];
  readonly busyOperation: NonNullable<Bet['busy']>['operation'] | undefined;
}

/**
 * Whether a later operation has overtaken the dead letter; then it is never sent again. A result that no wallet accepted
 * overtakes nothing that was promised.
 */
export function isPassed(dead: DeadLetter): boolean {
  const isPromised = wasPromised(dead);
  return dead.later.some((one) => overtakes(dead, one, isPromised && wasNotTaken(one)));
}

/**
 * Whether the wallet may hold a later operation than the dead letter, or holds what the service was answered again
 * since. Results that no wallet accepted do not count, whatever the service was answered.
 */
function isOverwritten(dead: DeadLetter): boolean {
  return dead.later.some((one) => overtakes(dead, one, wasNotTaken(one)));
}

/** @param isIgnored the later operation, if it is a result of its own */
function overtakes({ operation }: DeadLetter, later: LaterOperation, isIgnored: boolean): boolean {
  switch (operation) {
    case 'rollback':
      return false;
    case 'update':
      return (later.operation === 'update' || later.operation === 'rollback') && !later.isCopy;
    case 'settle':
    case 'unsettle':
      if (later.operation === 'rollback') return true;
      return isResult(later.operation) && (later.isCopy ? tellsOfAnother(later) : !isIgnored);
    default:
      return unreachable(operation);
  }
}

/**
 * The service was answered 200 for the dead letter, and relies on that: itself, or, while it waited, by a copy of
 * its request. A dead letter made under `unknownRepeats: hold` was answered 503: there the service relies on a later
 * answer.
 */
function wasPromised({ operation, answerStatus, later }: DeadLetter): boolean {
  const isAnsweredAlike = (one: LaterOperation) =>
    one.isCopy && one.operation === operation && one.answerStatus === 200 && one.bearsItsTime;
  return answerStatus === 200 || later.some(isAnsweredAlike);
}

/**
 * The service was answered 200 from the journal for another result than that of the dead letter: the one that stood
 * before it. It goes by that from then on.
 */
function tellsOfAnother({ answerStatus, bearsItsTime }: LaterOperation): boolean {
  return answerStatus === 200 && !bearsItsTime;
}

/**
 * No wallet has accepted it, and the service was promised nothing: it was refused (code 100 is not a refusal), or never
 * sent.
 */
function wasNotTaken({ attempts }: LaterOperation): boolean {
  return attempts.some(({ result, code, sent, answerStatus }) => {
    if (answerStatus === undefined || answerStatus === 200) return false;
    return (result === 'declined' && code !== undefined && code !== CODES.system) || !sent;
  });
}

/**
 * What the bet's result is once a person has resolved this dead letter: that of the dead letter, because a person has
 * checked that the wallet holds it, unless something has overtaken it. Its operation stands then.
 * @returns undefined if the bet stays as it is
 */
export function resultOfResolved(bet: BetOfDeadLetter, dead: DeadLetter): Settlement | undefined {
  if (bet.rollback !== 'none' || mayChangeResult(bet)) return undefined;
  if (dead.purpose === 'confirm' && bet.standingOperationId !== dead.operationId) return undefined;
  if (isOverwritten(dead)) return undefined;
  const result = resultIn(bet, dead);
  return result && standingSettlement(result, dead.transactionTime);
}

/** An update or a confirmation in flight does not change the result. */
function mayChangeResult({ busyOperation: busy }: BetOfDeadLetter): boolean {
  return busy !== undefined && busy !== 'update' && busy !== 'confirm';
}

/**
 * The bet's result while dead letters are sent again. If nobody knows which result is in doubt, because the process that
 * sent it was killed, it is the first of these.
 * @param letters of this bet, oldest first
 */
export function resultOfReopened(bet: BetOfDeadLetter, letters: readonly DeadLetter[]): Settlement {
  const { settlement } = bet;
  if (settlement.kind !== 'unknown' || settlement.attempted.kind !== 'several') return settlement;
  const first = letters.find(({ operation }) => operation !== 'update');
  const attempted = first && resultIn(bet, first);
  return attempted === undefined ? settlement : { kind: 'unknown', attempted };
}

/** The result that a dead letter brings; undefined if it is no result, or that is not on record. */
function resultIn(
  { settlement }: BetOfDeadLetter,
  { operation, purpose, settle }: DeadLetter,
): AttemptedResult | undefined {
  if (!isResult(operation)) return undefined;
  if (purpose === 'confirm') return standingResult(settlement);
  if (operation === 'unsettle') return { kind: 'unsettle' };
  return settle && { kind: 'settle', ...settle };
}
