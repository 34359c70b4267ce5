import { addAmounts, subtractAmounts } from '../../src/domain/amount.ts';
import type { BetOperation } from '../../src/domain/operation.ts';
import { unreachable } from '../../src/domain/unreachable.ts';
import type { BetSlip } from '../../src/protocol/callback-bodies.ts';
import type { ResultType } from './wallet/calls.ts';

/** `rolling_back`: the service gave the bet up, but none of its rollbacks is confirmed yet. */
export type BelievedState =
  | 'placing'
  | 'accepted'
  | 'declined'
  | 'rolling_back'
  | 'rolled_back'
  | 'settled';

/** One bet as the betting service sees it, based only on the answers it received. */
export interface BelievedBet {
  readonly transactionId: string;
  readonly userId: string;
  readonly currency: string;
  /** Decimal text. */
  readonly stake: string;
  readonly state: BelievedState;
  /** The current payout; `0` unless settled with one. */
  readonly paid: string;
  readonly resultType: ResultType | undefined;
  readonly coefficient: string;
  /** The operation without a definite answer: the belief may be wrong there. */
  readonly doubt: BetOperation | undefined;
}

export interface ServiceBooks {
  readonly bets: readonly BelievedBet[];
  /** What all bets together moved, per player and currency. */
  readonly accounts: readonly {
    readonly userId: string;
    readonly currency: string;
    readonly net: string;
  }[];
}

/** The service's own books. */
export class Beliefs {
  readonly #bets = new Map<string, BelievedBet>();

  has(transactionId: string): boolean {
    return this.#bets.has(transactionId);
  }

  get(transactionId: string): BelievedBet | undefined {
    return this.#bets.get(transactionId);
  }

  /** Adds a bet whose outcome is not known yet. */
  open(slip: BetSlip, state: 'placing' | 'rolling_back'): void {
    const { transactionId, userId, currency, amount: stake, coefficient } = slip;
    this.#bets.set(transactionId, {
      transactionId,
      userId,
      currency,
      stake,
      state,
      paid: '0',
      resultType: undefined,
      coefficient,
      doubt: state === 'placing' ? 'place' : 'rollback',
    });
  }

  /** @throws Error when the bet was never opened */
  change(transactionId: string, changes: Partial<BelievedBet>): void {
    const bet = this.#bets.get(transactionId);
    if (bet === undefined) throw new Error(`no bet ${transactionId} in the service's books`);
    this.#bets.set(transactionId, { ...bet, ...changes });
  }

  books(): ServiceBooks {
    const bets = [...this.#bets.values()];
    const accounts = new Map<string, { userId: string; currency: string; net: string }>();
    for (const bet of bets) {
      const { userId, currency } = bet;
      const key = JSON.stringify([userId, currency]);
      const net = addAmounts(accounts.get(key)?.net ?? '0', believedNet(bet));
      accounts.set(key, { userId, currency, net });
    }
    return { bets, accounts: [...accounts.values()] };
  }
}

/** What a bet moved on the player's balance, as the service believes. */
export function believedNet(bet: BelievedBet): string {
  switch (bet.state) {
    case 'accepted':
    case 'settled':
      return subtractAmounts(bet.paid, bet.stake);
    case 'placing':
    case 'declined':
    case 'rolling_back':
    case 'rolled_back':
      return '0';
  }
  return unreachable(bet.state);
}
