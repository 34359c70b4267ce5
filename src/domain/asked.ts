import { type AttemptedResult, type ResultType, sameResult } from './bet.ts';
import { isResult } from './operation.ts';
import { isOtherCurrency, type SaidTerms } from './terms.ts';

/** A settle or unsettle as the service requests it. */
export type AskedResult = SaidTerms &
  (
    | { readonly operation: 'settle'; readonly amount: string; readonly resultType: ResultType }
    | { readonly operation: 'unsettle' }
  );

/** An operation as the service requests it, with the members that these rules use. */
export type Asked =
  | AskedResult
  | (SaidTerms & { readonly operation: 'update'; readonly coefficientsKey: string })
  | (SaidTerms & { readonly operation: 'place' | 'rollback' });

/** The requested result, in the form that the rules about a bet compare. */
export function resultOf(asked: AskedResult): AttemptedResult {
  if (asked.operation === 'unsettle') return { kind: 'unsettle' };
  return { kind: 'settle', amount: asked.amount, resultType: asked.resultType };
}

export function asksForResult<A extends Asked>(asked: A): asked is Extract<A, AskedResult> {
  return isResult(asked.operation);
}

/** Whether two operations of one bet request the same result or the same update. */
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
