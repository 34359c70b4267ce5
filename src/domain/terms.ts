import { sameAmount } from './amount.ts';
import type { Bet } from './bet.ts';
import type { BetOperation } from './operation.ts';

/** A bet's stake and currency as the journal has them; undefined: not known. */
export type BetTerms = Pick<Bet, 'amount' | 'currency'>;

/** What an operation says of its bet: decimal text, and a currency. */
export interface SaidTerms {
  readonly amount?: string | undefined;
  readonly currency?: string | undefined;
}

type Amending = Extract<BetOperation, 'rollback' | 'update'>;

/**
 * The bet as an operation finds it: while its place is not in the journal, the first currency that an operation
 * names is the bet's. A rollback names none, because nothing can follow it.
 */
export function inFirstCurrency(bet: Bet, operation: BetOperation, said: SaidTerms): Bet {
  if (bet.currency !== undefined || said.currency === undefined) return bet;
  return operation === 'rollback' ? bet : { ...bet, currency: said.currency };
}

/** Whether both name a currency, and not the same. */
export function isOtherCurrency(one: SaidTerms, other: SaidTerms): boolean {
  const [a, b] = [one.currency, other.currency];
  return a !== undefined && b !== undefined && a !== b;
}

/**
 * The stake and currency that a rollback or update carries to the wallet: those of the journal, with the place's exact
 * text, because a wallet may refund whatever amount it is told. An update moves no money and keeps its own amount.
 */
export function sentTerms(operation: Amending, bet: BetTerms, said: SaidTerms): SaidTerms {
  const amount =
    operation === 'rollback' ? (bet.amount ?? said.amount) : (said.amount ?? bet.amount);
  return { amount, currency: bet.currency ?? said.currency };
}

/** How a rollback or update contradicts its bet, in words for people; undefined if it does not. */
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
