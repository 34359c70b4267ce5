import { sameAmount } from './amount.ts';
import type { Bet } from './bet.ts';
import type { BetOperation } from './operation.ts';

/** A bet's stake and currency in the journal; undefined: unknown. */
export type BetTerms = Pick<Bet, 'amount' | 'currency'>;

/** An operation's amount, as decimal text, and currency. */
export interface SaidTerms {
  readonly amount?: string | undefined;
  readonly currency?: string | undefined;
}

type Amending = Extract<BetOperation, 'rollback' | 'update'>;

/** Without a place, the first currency named is the bet's. A rollback names none, because nothing follows it. */
export function inFirstCurrency(bet: Bet, operation: BetOperation, said: SaidTerms): Bet {
  if (bet.currency !== undefined || said.currency === undefined) return bet;
  return operation === 'rollback' ? bet : { ...bet, currency: said.currency };
}

/** Whether both name a currency, and the two differ. */
export function isOtherCurrency(one: SaidTerms, other: SaidTerms): boolean {
  const [a, b] = [one.currency, other.currency];
  return a !== undefined && b !== undefined && a !== b;
}

/**
 * A rollback or update carries the journal's stake, in the place's exact text, and currency: a wallet may refund
 * whatever amount it gets. An update moves no money and keeps its own amount.
 */
export function sentTerms(operation: Amending, bet: BetTerms, said: SaidTerms): SaidTerms {
  const amount =
    operation === 'rollback' ? (bet.amount ?? said.amount) : (said.amount ?? bet.amount);
  return { amount, currency: bet.currency ?? said.currency };
}

/** How a rollback or update contradicts its bet, for people; undefined if it does not. */
export function contradiction(
  operation: Amending,
  bet: BetTerms,
  said: SaidTerms,
): string | undefined {
  const isOtherStake =
    operation === 'rollback' &&
    bet.amount !== undefined &&
    said.amount !== undefined &&
    !sameAmount(bet.amount, said.amount);
  const others = [
    ...(isOtherStake ? ['amount'] : []),
    ...(isOtherCurrency(bet, said) ? ['currency'] : []),
  ];
  return others.length === 0 ? undefined : `it names another ${others.join(' and ')} than its bet`;
}
