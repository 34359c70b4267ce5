import { sameAmount } from '../../../src/domain/amount.ts';
import type { BetKind, BetWalletCall, ResultType } from '../../../tools/simulator/wallet/calls.ts';
import type { Flaw } from '../../../tools/simulator/wallet/flaw.ts';
import type { WalletBet } from '../../../tools/simulator/wallet/ledger.ts';
import { accepted, flawed, type Mistake } from './mistake.ts';

/* Wallets that book an ordinary bet correctly, but not a bet with a longer history or of another kind. */

/** Debits the stake of an express bet for each of its outcomes. */
export const debitsEachOutcome = flawed((call, books) => {
  if (call.operation !== 'place') return undefined;
  const verdict = books.book(call);
  const further = call.coefficients.outcomes.length - 1;
  if (verdict.kind === 'accepted' && further > 0) {
    books.debit(call.userId, call.currency, String(further * Number(call.amount)));
  }
  return verdict;
});

/** Applies the booster to a payout that already includes it. */
export const paysTheBoosterTwice = flawed((call, books) => {
  const factor = Number(call.kind.boosterCoefficient ?? '1');
  return call.operation === 'settle' && factor !== 1
    ? books.book({ ...call, amount: (Number(call.amount) * factor).toFixed(2) })
    : undefined;
});

/** Pays nothing for Turbogames bets, as if the game's own server paid the wins. */
export const paysNoTurbogames = flawed((call, books) =>
  call.operation === 'settle' && call.kind.isTurbogames
    ? books.book({ ...call, amount: '0' })
    : undefined,
);

/** Confirms a changed result of a settled bet, and does nothing. */
export const ignoresChange = (from: ResultType, to: ResultType): Mistake =>
  flawed((call, books) => {
    if (call.operation !== 'settle' || call.resultType !== to) return undefined;
    const bet = books.bet(call.transactionId);
    return bet?.status === 'settled' && bet.resultType === from ? accepted() : undefined;
  });

/** Pays the current result once more, for matching bets. */
function paysAgainWhere(fits: (bet: WalletBet, call: BetWalletCall) => boolean): Flaw {
  return (call, books) => {
    const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
    if (bet?.status !== 'settled' || !sameAmount(bet.paid, call.amount)) return undefined;
    if (!fits(bet, call)) return undefined;
    books.credit(bet.user, bet.currency, call.amount);
    return accepted();
  };
}

export const paysRefundsAgain = flawed(
  paysAgainWhere(
    (bet, call) =>
      call.operation === 'settle' &&
      call.resultType === 'refund' &&
      bet.resultType === 'refund' &&
      !sameAmount(bet.paid, '0'),
  ),
);

/** Recognises a repeated result only if it is the bet's first. */
export function knowsFirstResults(): Mistake {
  const results = new Map<string, number>();
  const again = paysAgainWhere((bet) => (results.get(bet.transactionId) ?? 0) > 1);
  return flawed((call, books) => {
    const verdict = again(call, books);
    const bet = books.bet(call.transactionId);
    if (verdict !== undefined || call.operation !== 'settle') return verdict;
    if (bet?.status !== 'settled' || !sameAmount(bet.paid, call.amount)) {
      results.set(call.transactionId, (results.get(call.transactionId) ?? 0) + 1);
    }
    return undefined;
  });
}

/** Takes back again what this result had paid. */
export function unsettlesTwiceAfter(...resultTypes: readonly ResultType[]): Mistake {
  const taken = new Set<string>();
  return flawed((call, books) => {
    if (call.operation !== 'unsettle') return undefined;
    const bet = books.bet(call.transactionId);
    const { status, resultType } = bet ?? {};
    if (status === 'settled' && resultType !== undefined && resultTypes.includes(resultType)) {
      taken.add(call.transactionId);
    }
    if (bet === undefined || status !== 'waiting' || !taken.has(call.transactionId)) {
      return undefined;
    }
    books.debit(bet.user, bet.currency, call.amount);
    return accepted();
  });
}

/** Marks a bet as rolled back only if it had no such call before. */
export function refundsTwiceAfter(operation: 'settle' | 'unsettle'): Mistake {
  const before = new Set<string>();
  return flawed((call, books) => {
    const bet = books.bet(call.transactionId);
    if (call.operation === operation && bet !== undefined) before.add(call.transactionId);
    const isAgain = call.operation === 'rollback' && bet?.status === 'rolled_back';
    if (!isAgain || !before.has(call.transactionId)) return undefined;
    books.credit(bet.user, bet.currency, bet.stake);
    return accepted();
  });
}

/** Rewrites the bet at an update: it waits for a result again, as if nothing was paid for it. */
export function forgetsResultAtUpdate(): Mistake {
  const anew = new Set<string>();
  return flawed((call, books) => {
    const bet = books.bet(call.transactionId);
    if (call.operation === 'update' && bet?.status === 'settled') anew.add(call.transactionId);
    if (call.operation === 'update' || bet?.status !== 'settled') return undefined;
    if (!anew.delete(call.transactionId)) return undefined;
    books.credit(bet.user, bet.currency, bet.paid);
    const isRepeat = call.operation === 'settle' && sameAmount(bet.paid, call.amount);
    return isRepeat ? accepted() : books.book(call);
  });
}

/** Rewrites the bet at an update, without its stake. */
export function forgetsStakeAtUpdate(): Mistake {
  const anew = new Set<string>();
  return flawed((call, books) => {
    if (call.operation === 'update') anew.add(call.transactionId);
    const bet = call.operation === 'rollback' ? books.bet(call.transactionId) : undefined;
    if (bet?.status !== 'waiting' || !anew.has(call.transactionId)) return undefined;
    const verdict = books.book(call);
    books.debit(bet.user, bet.currency, bet.stake);
    return verdict;
  });
}

/** Makes another wallet's mistake, but only with bets of this kind. */
export const onlyOf = (isOfKind: (kind: BetKind) => boolean, { flaw }: Mistake): Mistake =>
  flawed((call, books) => (isOfKind(call.kind) ? flaw?.(call, books) : undefined));
