import type { BetOperation } from '../../../src/domain/operation.ts';
import type { BetWalletCall } from './calls.ts';

/** `applied` changed the books, `repeated` had been applied before, `nothing` found nothing to do. */
export type Effect = 'applied' | 'repeated' | 'nothing';

/** What happened to a call that reached the wallet. `unbooked`: the wallet will never book it. */
export type ArrivalResult = 'pending' | Effect | 'declined' | 'unbooked';

/** One call about a bet that reached the wallet: "exactly once" is counted by these. */
export interface Arrival {
  readonly operation: BetOperation;
  readonly transactionId: string;
  readonly requestId: string;
  readonly amount: string;
  /** On the wallet's monotonic clock. */
  readonly atMs: number;
  result: ArrivalResult;
}

/** Every call about every bet in the order of arrival, whatever happened to it. */
export class Arrivals {
  readonly #byBet = new Map<string, Arrival[]>();

  note(call: BetWalletCall, atMs: number): Arrival {
    const { operation, transactionId, requestId, amount } = call;
    const arrival: Arrival = {
      operation,
      transactionId,
      requestId,
      amount,
      atMs,
      result: 'pending',
    };
    const known = this.#byBet.get(transactionId);
    if (known === undefined) this.#byBet.set(transactionId, [arrival]);
    else known.push(arrival);
    return arrival;
  }

  of(transactionId: string, operation?: BetOperation): readonly Arrival[] {
    const all = this.#byBet.get(transactionId) ?? [];
    if (operation === undefined) return all;
    return all.filter((arrival) => arrival.operation === operation);
  }
}
