import { type Asked, askForSame } from './asked.ts';
import { type Bet, openMoneyDeliveries, type ResultType, type Settlement } from './bet.ts';

/** A person's finding in a wallet's books for a bet of unknown result. */
export type FoundAtWallet =
  /** The stake only: no result, or one that was undone. */
  | { readonly kind: 'stake' }
  | { readonly kind: 'result'; readonly amount: string; readonly resultType: ResultType };

/** Whether a person may end the doubt about a bet's result, and what the result is then. */
export type ResolveDecision =
  | {
      readonly kind: 'resolve';
      readonly settlement: Extract<Settlement, { readonly kind: 'settled' | 'unsettled' }>;
    }
  | { readonly kind: 'refused'; readonly why: string };

/** A recorded result: the service's answer to it, and its request, if that can be read. */
export interface AnsweredResult {
  readonly operationId: string;
  readonly answerStatus: number | undefined;
  readonly asked: Asked | undefined;
}

/**
 * Ids of dead letters that the service was answered 200 for, also by a copy, and of unreadable ones.
 * @param newestFirst the bet's results
 */
export function promisedAmong(
  dead: readonly { readonly id: string; readonly operationId: string }[],
  newestFirst: readonly AnsweredResult[],
): readonly string[] {
  const isPromised = (operationId: string): boolean => {
    const at = newestFirst.findIndex((one) => one.operationId === operationId);
    const own = newestFirst[at];
    if (own?.asked === undefined || own.answerStatus === 200) return true;
    const { asked } = own;
    // Its copies came after it.
    return newestFirst
      .slice(0, at)
      .some(
        (one) =>
          one.answerStatus === 200 && one.asked !== undefined && askForSame(one.asked, asked),
      );
  };
  return dead.filter(({ operationId }) => isPromised(operationId)).map(({ id }) => id);
}

/**
 * A person may end a doubt only if nothing else can: no delivery is open or in flight, no lost call may still take
 * effect, and nothing was promised. A promise has to be delivered, or its dead letter retried or resolved.
 * @param nowMs PostgreSQL's clock, epoch milliseconds
 * @param promised ids of the dead letters of its results that the service was answered 200 for
 * @param lateMsMax a lost call takes effect within this time, even if no worker counts its confirmations
 * @param transactionTime of the new result, ISO 8601 UTC
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
