import { addAmounts, canonicalAmount, subtractAmounts } from '../../domain/amount.ts';
import type { Columns } from '../sql/statement.ts';

/** The sums of a day in one currency. Amounts are decimal text; all but `net` are not negative. */
export interface DayTotals {
  readonly currency: string;
  readonly bets: number;
  readonly stakes: string;
  readonly payouts: string;
  readonly payoutReversals: string;
  readonly stakeReturns: string;
  /** What the operator keeps: stakes - stakeReturns - payouts + payoutReversals. */
  readonly net: string;
  readonly freebetStakes: string;
  readonly openBets: number;
  readonly openStakes: string;
  readonly unresolved: number;
}

/** Columns of `books_days`. Sums are cast to text, because JSON would turn them into doubles. */
export const TOTALS_COLUMNS = `d.currency, d.bets::int AS bets, d.stakes::text AS stakes,
         d.payouts::text AS payouts, d.payout_reversals::text AS payout_reversals,
         d.stake_returns::text AS stake_returns, d.freebet_stakes::text AS freebet_stakes,
         d.open_bets::int AS open_bets, d.open_stakes::text AS open_stakes,
         d.unresolved::int AS unresolved`;

export function totalsOf(row: Columns): DayTotals {
  const amount = (column: string) => canonicalAmount(row.text(column));
  const [stakes, payouts] = [amount('stakes'), amount('payouts')];
  const [payoutReversals, stakeReturns] = [amount('payout_reversals'), amount('stake_returns')];
  return {
    currency: row.text('currency'),
    bets: row.int('bets'),
    stakes,
    payouts,
    payoutReversals,
    stakeReturns,
    net: addAmounts(
      subtractAmounts(stakes, stakeReturns),
      subtractAmounts(payoutReversals, payouts),
    ),
    freebetStakes: amount('freebet_stakes'),
    openBets: row.int('open_bets'),
    openStakes: amount('open_stakes'),
    unresolved: row.int('unresolved'),
  };
}
