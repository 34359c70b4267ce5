import { type BetOperation, isResult } from './operation.ts';

/** Facts of an attempt; many attempts differ only in their time. */
export interface AttemptFacts {
  /** `accepted`, `declined`, or why there was no clear answer. */
  readonly result: string;
  /** The code of a refusal. */
  readonly code: number | undefined;
  /** A byte of it may have left for the wallet. */
  readonly sent: boolean;
  /** The wallet accepted it, and it became the bet's standing operation. */
  readonly confirmed: boolean;
  /** The status of the service's answer to it; undefined if no caller waited. */
  readonly answerStatus: number | undefined;
}

/** An operation as recorded. */
export interface OperationFacts {
  /** The status of the service's answer; undefined while none is recorded. */
  readonly answerStatus: number | undefined;
  readonly attempts: readonly AttemptFacts[];
  readonly deliveries: readonly { readonly state: string; readonly attempts: number }[];
}

/** What became of a recorded operation. */
export interface Course {
  /** A wallet may have seen it. */
  readonly wasSent: boolean;
  /** A wallet accepted it, or refused it and the service got that, or a person resolved it without a promise. */
  readonly isConcluded: boolean;
  /** Concluded by such a refusal. After any other refusal the operation still has to be delivered. */
  readonly isRefused: boolean;
}

export function courseOf(facts: OperationFacts): Course {
  const isRefused = facts.attempts.some(isAnsweredRefusal);
  const isConcluded = isRefused || facts.attempts.some(hasTakenEffect) || isClosedByPerson(facts);
  return { wasSent: wasSent(facts), isConcluded, isRefused };
}

/** Not if all attempts failed before a byte left, or if it was answered at once and never attempted as a delivery. */
function wasSent({ attempts, deliveries, answerStatus }: OperationFacts): boolean {
  if (attempts.some(({ sent }) => sent)) return true;
  // A waiting delivery counts as sent. A claimed one may be, even if its process wrote no attempt.
  if (deliveries.some((one) => one.state !== 'superseded' || one.attempts > 0)) return true;
  if (attempts.length > 0) return false;
  // Without any record it may have been sent and its outcome lost, if it has no answer yet or was answered 503.
  return answerStatus === undefined || (answerStatus >= 500 && deliveries.length === 0);
}

/** The wallet refused it, and the service got that refusal. */
function isAnsweredRefusal({ result, answerStatus }: AttemptFacts): boolean {
  return result === 'declined' && answerStatus === 400;
}

/** An answer after the end of its lease does not affect the bet (rule 16). */
function hasTakenEffect({ result, confirmed }: AttemptFacts): boolean {
  return result === 'accepted' && confirmed;
}

/** A resolved promise does not count: a later result may have overtaken it. */
function isClosedByPerson({ answerStatus, deliveries }: OperationFacts): boolean {
  return answerStatus !== 200 && deliveries.some(({ state }) => state === 'resolved');
}

/** Whether this result may have reached a wallet, with an unknown outcome. */
export function isOpenResult({
  operation,
  wasSent: isSent,
  isConcluded,
}: Omit<Course, 'isRefused'> & { readonly operation: BetOperation }): boolean {
  return isResult(operation) && isSent && !isConcluded;
}

/**
 * What an earlier result means for a later one. A repeat requests the same result as the unanswered one directly before
 * it; results that changed nothing at the wallet (never sent, or refused other ones) are not in between.
 * @param isSame whether both request the same result
 */
export function bearingOf(earlier: Course, isSame: boolean): 'repeated' | 'passedOver' | 'between' {
  if (!earlier.wasSent) return 'passedOver';
  if (isSame) return earlier.isConcluded ? 'between' : 'repeated';
  return earlier.isRefused ? 'passedOver' : 'between';
}
