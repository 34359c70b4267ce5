import { type Bet, openMoneyDeliveries, type ResultType, type Settlement } from './bet.ts';

/** What a person has found in a wallet's books for a bet whose result is unknown. */
export type FoundAtWallet =
  /** The stake only: no result, or one that was taken back. */
  | { readonly kind: 'stake' }
  | { readonly kind: 'result'; readonly amount: string; readonly resultType: ResultType };

/** Whether a person may end the doubt about a bet's result, and what its result is then. */
export type ResolveDecision =
  | {
      readonly kind: 'resolve';
      readonly settlement: Extract<Settlement, { readonly kind: 'settled' | 'unsettled' }>;
    }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * A person ends a doubt only where nothing else can: the result is unknown, and nothing is on its way or waits, whose
 * answer would end it.
 * @param transactionTime of the result from now on, ISO 8601 UTC
 */
export function decideResolve(
  bet: Bet,
  found: FoundAtWallet,
  transactionTime: string,
): ResolveDecision {
  if (bet.rollback.kind !== 'none') return refused('The bet is rolled back');
  if (bet.settlement.kind !== 'unknown') return refused('The result of the bet is not unknown');
  const [waiting] = openMoneyDeliveries(bet);
  const underWay = busyWith(bet) ?? waiting?.operation;
  if (underWay !== undefined) {
    return refused(`Its ${underWay} is on its way to the wallet, whose answer may end the doubt`);
  }
  return found.kind === 'stake'
    ? { kind: 'resolve', settlement: { kind: 'unsettled', transactionTime } }
    : { kind: 'resolve', settlement: { ...found, kind: 'settled', transactionTime } };
}

/** The operation in flight, if it can change the bet's result. */
function busyWith({ busy }: Bet): string | undefined {
  return busy === undefined || busy.operation === 'update' || busy.operation === 'confirm'
    ? undefined
    : busy.operation;
}

function refused(why: string): ResolveDecision {
  return { kind: 'refused', why };
}
