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

/* What people may do with a dead letter. Later operations do not wait for it, and may have overtaken it (I6). */

/** A delivery that was given up, and what has happened to its bet since. */
export interface DeadLetter {
  readonly operation: DeliverableOperation;
  readonly operationId: string;
  readonly purpose: DeliveryPurpose;
  /** Of its promise; for a settle or unsettle, of its result. */
  readonly transactionTime: string;
  /** Only for a promised settle. A confirmation does not store it: the bet has it already. */
  readonly settle: { readonly amount: string; readonly resultType: ResultType } | undefined;
  /** The status of the service's answer; undefined if none is recorded. */
  readonly answerStatus: number | undefined;
  /** The bet's later operations; those with equal members count once. */
  readonly later: readonly LaterOperation[];
}

export interface LaterOperation {
  readonly operation: BetOperation;
  /** Answered from the journal. */
  readonly isCopy: boolean;
  /** Recorded with the operation, as for a copy; an attempt records its own answer. */
  readonly answerStatus: number | undefined;
  /** The answer has the `transactionTime` of the dead letter: it answers a copy of its request. */
  readonly bearsItsTime: boolean;
  readonly attempts: readonly AttemptFacts[];
}

export interface BetOfDeadLetter extends Pick<Bet, 'settlement' | 'standingOperationId'> {
  readonly rollback: Bet['rollback']['kind'];
  readonly busyOperation: NonNullable<Bet['busy']>['operation'] | undefined;
}

/** If overtaken by a later operation, it is never sent again. A result that no wallet accepted overtakes no promise. */
export function isPassed(dead: DeadLetter): boolean {
  const isPromised = wasPromised(dead);
  return dead.later.some((one) => overtakes(dead, one, isPromised && wasNotTaken(one)));
}

/** Whether a later operation may be at the wallet or was answered. A result that no wallet accepted does not count. */
function isOverwritten(dead: DeadLetter): boolean {
  return dead.later.some((one) => overtakes(dead, one, wasNotTaken(one)));
}

/** @param isIgnored for a later operation that is a result of its own */
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
 * Whether the service was answered 200 for the dead letter or, while it waited, for a copy of its request. Under
 * `unknownRepeats: hold` it was answered 503, and relies on a later answer.
 */
function wasPromised({ operation, answerStatus, later }: DeadLetter): boolean {
  const isAnsweredAlike = (one: LaterOperation) =>
    one.isCopy && one.operation === operation && one.answerStatus === 200 && one.bearsItsTime;
  return answerStatus === 200 || later.some(isAnsweredAlike);
}

/** The service was answered 200 from the journal for the earlier result, and relies on that one from then on. */
function tellsOfAnother({ answerStatus, bearsItsTime }: LaterOperation): boolean {
  return answerStatus === 200 && !bearsItsTime;
}

/** No wallet has accepted it, and the service has no promise: refused (code 100 is no refusal) or never sent. */
function wasNotTaken({ attempts }: LaterOperation): boolean {
  return attempts.some(({ result, code, sent, answerStatus }) => {
    if (answerStatus === undefined || answerStatus === 200) return false;
    return (result === 'declined' && code !== undefined && code !== CODES.system) || !sent;
  });
}

/** The bet's result once a person has found the dead letter's at the wallet. @returns undefined if it stays */
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
 * The bet's result while dead letters are sent again; if a lost process alone knew it, the first letter's.
 * @param letters of this bet, oldest first
 */
export function resultOfReopened(bet: BetOfDeadLetter, letters: readonly DeadLetter[]): Settlement {
  const { settlement } = bet;
  if (settlement.kind !== 'unknown' || settlement.attempted.kind !== 'several') return settlement;
  const first = letters.find(({ operation }) => operation !== 'update');
  const attempted = first && resultIn(bet, first);
  return attempted === undefined ? settlement : { kind: 'unknown', attempted };
}

/** The result in a dead letter; undefined if it is no result, or that is not recorded. */
function resultIn(
  { settlement }: BetOfDeadLetter,
  { operation, purpose, settle }: DeadLetter,
): AttemptedResult | undefined {
  if (!isResult(operation)) return undefined;
  if (purpose === 'confirm') return standingResult(settlement);
  if (operation === 'unsettle') return { kind: 'unsettle' };
  return settle && { kind: 'settle', ...settle };
}
