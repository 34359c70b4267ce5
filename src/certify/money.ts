import { isNonNegativeFinite, subtractAmounts } from '../domain/amount.ts';
import type { Meaning } from './answer-meaning.ts';

/**
 * The exact text of the amount in a balance answer; a number in quotes counts too, its form is
 * judged elsewhere.
 */
export function amountIn(meaning: Meaning): string | undefined {
  if (meaning.kind !== 'accepted' || meaning.document === undefined) return undefined;
  const { amount } = meaning.document.value;
  const text = meaning.document.numberText('amount') ?? amount;
  return typeof text === 'string' && isNumberText(text) ? text : undefined;
}

/** An overdrawn player has a balance too. */
function isNumberText(text: string): boolean {
  return isNonNegativeFinite(text.startsWith('-') ? text.slice(1) : text);
}

/** The sum of `count` equal amounts, negated: what as many stakes move. */
export function stakes(count: number, amount: string): string {
  let total = '0';
  for (let at = 0; at < count; at += 1) total = subtractAmounts(total, amount);
  return total;
}
