import type { BetWalletCall } from './calls.ts';
import type { Verdict, WalletBet } from './ledger.ts';

/** What a flaw can do to the books. */
export interface FlawedBooks {
  /** As the protocol-conforming ledger knows it. */
  bet(transactionId: string): WalletBet | undefined;
  /** Books a call as the protocol says; it may be another call than the one that arrived. */
  book(call: BetWalletCall): Verdict;
  /** The player's money now, decimal text. */
  balance(user: string, currency: string): string;
  credit(user: string, currency: string, amount: string): void;
  debit(user: string, currency: string, amount: string): void;
}

/** A mistake in a wallet's bookkeeping; returns its answer, or undefined if it makes none here. */
export type Flaw = (call: BetWalletCall, books: FlawedBooks) => Verdict | undefined;
