import type { BetWalletCall } from './calls.ts';
import type { Verdict, WalletBet } from './ledger.ts';

/** What a flaw may do to the books. */
export interface FlawedBooks {
  /** As the ledger that keeps the protocol knows it. */
  bet(transactionId: string): WalletBet | undefined;
  /** Books a call as the protocol says; it may be another call than the one that came. */
  book(call: BetWalletCall): Verdict;
  /** The player's money now, decimal text. */
  balance(user: string, currency: string): string;
  credit(user: string, currency: string, amount: string): void;
  debit(user: string, currency: string, amount: string): void;
}

/**
 * A mistake in a wallet's bookkeeping, for tests of who has to find it or survive it.
 * @returns what the wallet answers, or undefined where it makes no mistake about this call
 */
export type Flaw = (call: BetWalletCall, books: FlawedBooks) => Verdict | undefined;
