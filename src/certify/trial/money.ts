import {
  compareAmounts,
  isNonNegativeFinite,
  sameAmount,
  subtractAmounts,
} from '../../domain/amount.ts';
import { CODES } from '../../domain/codes.ts';
import type { AnswerMeaning } from '../calls/answer-meaning.ts';

/** The exact text of the amount in a balance answer; a number in quotes counts too. */
export function amountIn(answer: AnswerMeaning): string | undefined {
  if (answer.kind !== 'accepted' || answer.document === undefined) return undefined;
  const { amount } = answer.document.value;
  const text = answer.document.numberText('amount') ?? amount;
  return typeof text === 'string' && isNumberText(text) ? text : undefined;
}

/** Also true for a negative number: an overdrawn player has a balance too. */
function isNumberText(text: string): boolean {
  return isNonNegativeFinite(text.startsWith('-') ? text.slice(1) : text);
}

/** Whether a settle with this answer may have paid: a system error may come after the money moved. */
export function mayHavePaid(answer: AnswerMeaning): boolean {
  return answer.kind !== 'refused' || answer.code === CODES.system;
}

/** The sum of `count` equal amounts, negated: what that many stakes move. */
export function stakes(count: number, amount: string): string {
  let total = '0';
  for (let at = 0; at < count; at += 1) total = subtractAmounts(total, amount);
  return total;
}

/** A hint if money moved a hundred or a thousand times as much as it should; otherwise nothing. */
export function inCoins(seen: string, wanted: string): string {
  const digits = [2, 3].find((power) => sameAmount(seen, `${wanted}e${power}`));
  if (digits === undefined || sameAmount(wanted, '0')) return '';
  return `, ${10 ** digits} times as much: amounts are in units such as 12.10, not in the smallest coin`;
}

/**
 * Whether an error (decimal text, may be negative) is below half of the currency's smallest coin. For an
 * unknown currency only the noise of floats counts.
 */
export function isDust(error: string, currency: string): boolean {
  const size = error.startsWith('-') ? error.slice(1) : error;
  return compareAmounts(size, halfMinorUnit(currency)) < 0;
}

const FLOAT_NOISE = '0.00000001';

function halfMinorUnit(currency: string): string {
  const digits = coinDigits(currency);
  if (digits === undefined) return FLOAT_NOISE;
  return digits === 0 ? '0.5' : `0.${'0'.repeat(digits)}5`;
}

/** Decimal places of the currency's smallest coin; undefined for an unknown currency. */
function coinDigits(currency: string): number | undefined {
  if (!Intl.supportedValuesOf('currency').includes(currency)) return undefined;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits;
}

/** Whether 1 is the smallest coin, as for the yen: a wallet may then refuse fractions. */
export function hasNoCents(currency: string): boolean {
  return coinDigits(currency) === 0;
}
