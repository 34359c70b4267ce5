import { type AttemptedResult, type ResultType, sameResult } from './bet.ts';
import { isResult } from './operation.ts';
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
