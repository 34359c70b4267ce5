import { InvalidArgumentError } from 'commander';
import { instantOf, isDay } from '../domain/calendar.ts';

/** `--from`, `--to`: a day in UTC, or a time with its zone. */
export function readTime(text: string): Date {
  const time = instantOf(text);
  if (time !== undefined) return time;
  throw new InvalidArgumentError('It must be a day, or a time such as 2026-11-22T03:15:00Z.');
}

/** `--cursor` of a list by ids. Anything else would restart the list. */
export function readCursor(text: string): string {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the cursor that the previous list printed.');
}

/** An option that is an amount of money, as decimal text. */
export function readAmount(text: string): string {
  if (/^(?:0|[1-9]\d{0,29})(?:\.\d{1,20})?$/.test(text)) return text;
  throw new InvalidArgumentError('It must be an amount such as 12.50.');
}

/** A day as the books write it. */
export function readDay(text: string): string {
  if (isDay(text)) return text;
  throw new InvalidArgumentError('It must be a day such as 2026-11-20.');
}

/** A currency as somebody typed it: `eur` stands for `EUR`, but `mBTC` is a code of its own. */
export function typedCurrency(text: string): string {
  return /^[a-z]+$/.test(text) ? text.toUpperCase() : text;
}
