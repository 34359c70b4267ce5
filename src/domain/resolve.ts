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
 * A person ends a doubt only where nothing else can: the result is unknown, nothing is on its way or waits whose answer
 * would end it, no lost call may still change what the wallet holds, and nothing was promised: what the service was
 * answered 200 for has to be delivered, and its dead letter has its own two ways out.
 * @param nowMs PostgreSQL's clock, epoch milliseconds
 * @param promised ids of the dead letters of its results that the service was answered 200 for
 * @param lateMsMax a lost call takes effect within this, also where no worker counts its confirmations
 * @param transactionTime of the result from now on, ISO 8601 UTC
 */
export function decideResolve(
  bet: Bet,
  found: FoundAtWallet,
  at: {
    readonly nowMs: number;
    readonly promised: readonly string[];
    readonly lateMsMax: number;
    readonly transactionTime: string;
  },
): ResolveDecision {
  if (bet.rollback.kind !== 'none') return refused('The bet is rolled back');
  if (bet.settlement.kind !== 'unknown') return refused('The result of the bet is not unknown');
  const [waiting] = openMoneyDeliveries(bet);
  const underWay = busyWith(bet) ?? waiting?.operation;
  if (underWay !== undefined) {
    return refused(`Its ${underWay} is on its way to the wallet, whose answer may end the doubt`);
  }
  const [promised] = at.promised;
  if (promised !== undefined) {
    return refused(
      `The service was answered 200 for a result of it: retry or resolve delivery ${promised}`,
    );
  }
  const lateUntilMs = bet.late === undefined ? 0 : bet.late.atMs + at.lateMsMax;
  if (at.nowMs < lateUntilMs) {
    const until = new Date(lateUntilMs).toISOString();
    return refused(
      `A lost call may still take effect at the wallet, until ${until} at the latest: look there again then`,
    );
  }
  const { transactionTime } = at;
  return found.kind === 'stake'
    ? { kind: 'resolve', settlement: { kind: 'unsettled', transactionTime } }
    : { kind: 'resolve', settlement: { ...found, kind: 'settled', transactionTime } };
}

/** The operation in flight, if it can change what the wallet holds. */
function busyWith({ busy }: Bet): string | undefined {
  if (busy === undefined || busy.operation === 'update') return undefined;
  return busy.operation === 'confirm' ? 'confirmation' : busy.operation;
}

function refused(why: string): ResolveDecision {
  return { kind: 'refused', why };
}
