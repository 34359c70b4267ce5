import { sameAmount } from '../../../src/domain/amount.ts';
import type { BetKind, BetWalletCall, ResultType } from '../../../tools/simulator/wallet/calls.ts';
import type { Flaw } from '../../../tools/simulator/wallet/flaw.ts';
import type { WalletBet } from '../../../tools/simulator/wallet/ledger.ts';
import { accepted, flawed, type Mistake } from './mistake.ts';

/*
 * Wallets that book an ordinary bet rightly, and once it has had another life before, or is of another kind,
 * do not.
 */

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

/** Applies the booster to a payout that has it already. */
export const paysTheBoosterTwice = flawed((call, books) => {
  const factor = Number(call.kind.boosterCoefficient ?? '1');
  return call.operation === 'settle' && factor !== 1
    ? books.book({ ...call, amount: (Number(call.amount) * factor).toFixed(2) })
    : undefined;
});

/** A game's own server is thought to pay what is won there. */
export const paysNoTurbogames = flawed((call, books) =>
  call.operation === 'settle' && call.kind.isTurbogames
    ? books.book({ ...call, amount: '0' })
    : undefined,
);

/** Says yes to a result of a bet that stands at another one, and does nothing. */
export const ignoresChange = (from: ResultType, to: ResultType): Mistake =>
  flawed((call, books) => {
    if (call.operation !== 'settle' || call.resultType !== to) return undefined;
    const bet = books.bet(call.transactionId);
    return bet?.status === 'settled' && bet.resultType === from ? accepted() : undefined;
  });

/** Pays what stands already once more, where the bet fits. */
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

/** Knows a result again only where it is the first that the bet has had. */
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

/** Takes back again what such a result had paid. */
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

/** Marks a bet as rolled back only where it had no such call before. */
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

/** Writes the bet anew at an update: it waits for a result again, and nothing was paid for it. */
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

/** Writes the bet anew at an update, without a stake. */
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

/** Has another mistake, with bets of this kind alone. */
export const onlyOf = (isOfKind: (kind: BetKind) => boolean, { flaw }: Mistake): Mistake =>
  flawed((call, books) => (isOfKind(call.kind) ? flaw?.(call, books) : undefined));
