import { type BetOperation, isResult } from './operation.ts';

/** What attempts of an operation have in common: many may differ in nothing but their time. */
export interface AttemptFacts {
  /** `accepted`, `declined`, or why there was no clear answer. */
  readonly result: string;
  /** The code of a refusal. */
  readonly code: number | undefined;
  /** A byte of it may have left towards the wallet. */
  readonly sent: boolean;
  /** The wallet accepted it, and the bet stands by it. */
  readonly confirmed: boolean;
  /** The status that the service was answered with because of it; undefined if no caller waited. */
  readonly answerStatus: number | undefined;
}

/** What is on record of an operation. */
export interface OperationFacts {
  /** The status that the service was answered with; undefined while that is not on record. */
  readonly answerStatus: number | undefined;
  readonly attempts: readonly AttemptFacts[];
  readonly deliveries: readonly { readonly state: string; readonly attempts: number }[];
}

/** What came of an operation on record. */
export interface Course {
  /** A wallet may have seen it. */
  readonly wasSent: boolean;
  /** A wallet accepted it, or refused it and the service was answered so; or a person resolved it, and nothing was promised. */
  readonly isConcluded: boolean;
  /** Concluded by such a refusal. After any other refusal the operation still has to be delivered. */
  readonly isRefused: boolean;
}

export function courseOf(facts: OperationFacts): Course {
  const isRefused = facts.attempts.some(isAnsweredRefusal);
  const isConcluded = isRefused || facts.attempts.some(hasTakenEffect) || isClosedByPerson(facts);
  return { wasSent: wasSent(facts), isConcluded, isRefused };
}

/**
 * No wallet can have seen an operation whose attempts all failed before a byte had left, or that was answered at once
 * and never attempted as a delivery.
 */
function wasSent({ attempts, deliveries, answerStatus }: OperationFacts): boolean {
  if (attempts.some(({ sent }) => sent)) return true;
  // A delivery that still waits counts as sent. One that was claimed may be, though its process wrote no attempt.
  if (deliveries.some((one) => one.state !== 'superseded' || one.attempts > 0)) return true;
  if (attempts.length > 0) return false;
  // Nothing on record: it may have been sent and its outcome lost, if it has no answer yet or was answered 503.
  return answerStatus === undefined || (answerStatus >= 500 && deliveries.length === 0);
}

/** The wallet refused it, and the service was answered so. */
function isAnsweredRefusal({ result, answerStatus }: AttemptFacts): boolean {
  return result === 'declined' && answerStatus === 400;
}

/** An answer that arrived after its lease had ended does not affect the bet (rule 16). */
function hasTakenEffect({ result, confirmed }: AttemptFacts): boolean {
  return result === 'accepted' && confirmed;
}

/** What was promised and is resolved may have been passed by a later result, and is not the bet's then. */
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
 * What an earlier result is for a later one. A repeat is the same result as the one requested directly before it, which
 * the wallet has neither accepted nor refused. With another result in between, or after an answer, it is a new
 * operation. What has changed nothing at the wallet is not in between: a result that no wallet ever saw (a cancelled
 * promise, a refused connection), or another one that it has refused.
 * @param isSame whether both ask for the same result
 */
export function bearingOf(earlier: Course, isSame: boolean): 'repeated' | 'passedOver' | 'between' {
  if (!earlier.wasSent) return 'passedOver';
  if (isSame) return earlier.isConcluded ? 'between' : 'repeated';
  return earlier.isRefused ? 'passedOver' : 'between';
}
