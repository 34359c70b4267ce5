import { type AttemptedResult, type ResultType, sameResult } from './bet.ts';
import { type BetOperation, isResult } from './operation.ts';
import { isOtherCurrency, type SaidTerms } from './terms.ts';

/** A settle or unsettle as the service asks for it. */
export type AskedResult = SaidTerms &
  (
    | { readonly operation: 'settle'; readonly amount: string; readonly resultType: ResultType }
    | { readonly operation: 'unsettle' }
  );

/** An operation as the service asks for it, as far as these rules look at it. */
export type Asked =
  | AskedResult
  | (SaidTerms & { readonly operation: 'update'; readonly coefficientsKey: string })
  | (SaidTerms & { readonly operation: 'place' | 'rollback' });

/** The result that is asked for, in the form that the rules about a bet compare. */
export function resultOf(asked: AskedResult): AttemptedResult {
  if (asked.operation === 'unsettle') return { kind: 'unsettle' };
  return { kind: 'settle', amount: asked.amount, resultType: asked.resultType };
}

export function asksForResult<A extends Asked>(asked: A): asked is Extract<A, AskedResult> {
  return isResult(asked.operation);
}

/** Whether two operations of one bet ask for the same: the same result, or the same update. */
export function askForSame(one: Asked, other: Asked): boolean {
  if (one.operation === 'update' && other.operation === 'update') {
    return one.coefficientsKey === other.coefficientsKey;
  }
  return (
    asksForResult(one) &&
    asksForResult(other) &&
    !isOtherCurrency(one, other) &&
    sameResult(resultOf(one), resultOf(other))
  );
}

/** What came of an operation on record. */
export interface Course {
  readonly operation: BetOperation;
  /** A wallet may have seen it. */
  readonly wasSent: boolean;
  /** The wallet accepted or refused it, or a person resolved it. */
  readonly isConcluded: boolean;
  /** The wallet refused it. */
  readonly isRefused: boolean;
}

/** Whether this result may have reached a wallet, with an unknown outcome. */
export function isOpenResult({ operation, wasSent, isConcluded }: Course): boolean {
  return isResult(operation) && wasSent && !isConcluded;
}

/**
 * What an earlier result is for a later one. A repeat is the same result as the one requested directly before it, which
 * the wallet has neither accepted nor refused. With another result in between, or after an answer, it is a new
 * operation. What has changed nothing at the wallet is not in between: a result that no wallet ever saw (a cancelled
 * promise, a refused connection), or another one that it has refused.
 * @param isSame whether both ask for the same result
 */
export function bearingOf(
  earlier: Omit<Course, 'operation'>,
  isSame: boolean,
): 'repeated' | 'passedOver' | 'between' {
  if (!earlier.wasSent) return 'passedOver';
  if (isSame) return earlier.isConcluded ? 'between' : 'repeated';
  return earlier.isRefused ? 'passedOver' : 'between';
}
