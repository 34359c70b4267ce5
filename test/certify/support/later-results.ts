import { addAmounts, subtractAmounts } from '../../../src/domain/amount.ts';
import type { BetWalletCall, ResultType } from '../../../tools/simulator/wallet/calls.ts';
import type { FlawedBooks } from '../../../tools/simulator/wallet/flaw.ts';
import type { WalletBet } from '../../../tools/simulator/wallet/ledger.ts';
import { accepted, declined, flawed, type Mistake } from './mistake.ts';

/** If a bet was settled otherwise before, pays this result in addition to that. */
export const adds = (from: ResultType, to: ResultType): Mistake =>
  flawed((call, books) => {
    if (call.operation !== 'settle' || call.resultType !== to) return undefined;
    const bet = books.bet(call.transactionId);
    if (bet?.status !== 'settled' || bet.resultType !== from) return undefined;
    books.credit(bet.user, bet.currency, bet.paid);
    return books.book(call);
  });

type Undoing = 'unsettle' | 'rollback';

/** What the wallet does with an unsettle or a rollback of a settled bet. */
const undoing = (
  operation: Undoing,
  flaw: (
    bet: WalletBet,
    call: BetWalletCall,
    books: FlawedBooks,
  ) => ReturnType<typeof accepted> | undefined,
): Mistake =>
  flawed((call, books) => {
    const bet = call.operation === operation ? books.bet(call.transactionId) : undefined;
    return bet?.status === 'settled' ? flaw(bet, call, books) : undefined;
  });

/** Takes back a bet's first payout instead of the current one. */
export function takesFirstPayoutBack(operation: Undoing): Mistake {
  const first = new Map<string, string>();
  return flawed((call, books) => {
    const bet = books.bet(call.transactionId);
    if (call.operation === 'settle' && bet?.status === 'waiting') {
      first.set(call.transactionId, call.amount);
    }
    if (call.operation !== operation || bet?.status !== 'settled') return undefined;
    const kept = subtractAmounts(bet.paid, first.get(call.transactionId) ?? bet.paid);
    books.credit(bet.user, bet.currency, kept);
    return books.book(call);
  });
}

/** Leaves the payout of this result with the player. */
export const keeps = (result: ResultType, operation: Undoing): Mistake =>
  undoing(operation, (bet, call, books) => {
    if (bet.resultType !== result) return undefined;
    books.credit(bet.user, bet.currency, bet.paid);
    return books.book(call);
  });

/** Confirms the second unsettle of a bet and does nothing, because it has already had one. */
export function unsettlesOnce(): Mistake {
  const seen = new Set<string>();
  return undoing('unsettle', (bet) => {
    if (seen.has(bet.transactionId)) return accepted();
    seen.add(bet.transactionId);
    return undefined;
  });
}

/** Treats a lost bet as closed: its stake is not returned. */
export const keepsLostStakes = undoing('rollback', (bet, call, books) => {
  if (bet.resultType !== 'lost') return undefined;
  books.debit(bet.user, bet.currency, addAmounts(bet.stake, '0'));
  return books.book(call);
});

export const refusesCashedOut = undoing('rollback', ({ resultType }) =>
  resultType === 'cashout' ? declined(5) : undefined,
);
