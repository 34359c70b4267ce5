import { isNonNegativeFinite } from '../domain/amount.ts';
import { type JsonDocument, JsonError } from './json.ts';

/**
 * Readers for the members of a message: the value in its type, or a `JsonError` that names the member. For an
 * optional member null counts as left out.
 */

/** Bounds in UTF-16 code units. */
export interface TextBounds {
  readonly lengthMin: number;
  readonly lengthMax: number;
}

/** Of ids. */
export const IDENTIFIER: TextBounds = { lengthMin: 1, lengthMax: 64 };
const CURRENCY: TextBounds = { lengthMin: 3, lengthMax: 5 };

/** A required string. */
export function requiredText(document: JsonDocument, name: string, bounds: TextBounds): string {
  const value = document.value[name];
  if (!document.has(name)) throw new JsonError('is missing', name);
  if (typeof value !== 'string') throw new JsonError('must be a string', name);
  return storable(within(value, name, bounds), name);
}

/** An optional string; without bounds it may have any length. */
export function optionalText(
  document: JsonDocument,
  name: string,
  bounds?: TextBounds,
): string | undefined {
  const value = document.value[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new JsonError('must be a string', name);
  return storable(bounds === undefined ? value : within(value, name, bounds), name);
}

export function requiredCurrency(document: JsonDocument, name: string): string {
  return requiredText(document, name, CURRENCY);
}

export function optionalCurrency(document: JsonDocument, name: string): string | undefined {
  return optionalText(document, name, CURRENCY);
}

/** The exact text of a required amount (docs/reference.md, Callbacks, code 5). */
export function amount(document: JsonDocument, name: string): string {
  if (!document.has(name)) throw new JsonError('is missing', name);
  const exact = document.numberText(name);
  if (exact === undefined || !isNonNegativeFinite(exact)) {
    throw new JsonError('must be a number of 0 or more', name);
  }
  return exact;
}

/** Like `amount`; undefined if the member is left out. Null is not an amount. */
export function optionalAmount(document: JsonDocument, name: string): string | undefined {
  return document.has(name) ? amount(document, name) : undefined;
}

/** Checks an optional number of 0 or more, which may be null. */
export function checkOptionalNumber(document: JsonDocument, name: string): void {
  if (document.has(name) && document.value[name] !== null) amount(document, name);
}

/** Checks an optional whole number, which may be null. */
export function checkOptionalInteger(document: JsonDocument, name: string): void {
  const value = document.value[name];
  if (value === undefined || value === null || Number.isInteger(value)) return;
  throw new JsonError('must be a whole number', name);
}

/** Checks an optional string of any content, which may be null. */
export function checkOptionalString(document: JsonDocument, name: string): void {
  const value = document.value[name];
  if (value === undefined || value === null || typeof value === 'string') return;
  throw new JsonError('must be a string', name);
}

/** One of a few words. */
export function requiredWord<T extends string>(
  document: JsonDocument,
  name: string,
  words: readonly T[],
): T {
  const value = document.value[name];
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) throw new JsonError(`must be one of ${words.join(', ')}`, name);
  return word;
}

/** A whole number if the member is one; any other value counts as none. */
export function integerIfAny(document: JsonDocument, name: string): number | undefined {
  const value = document.value[name];
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

function within(value: string, name: string, { lengthMin, lengthMax }: TextBounds): string {
  if (value.length < lengthMin || value.length > lengthMax) {
    throw new JsonError(`must have ${lengthMin} to ${lengthMax} characters`, name);
  }
  return value;
}

/** The value becomes a key or a column: PostgreSQL accepts no NUL, and UTF-8 has no lone surrogates. */
function storable(value: string, name: string): string {
  if (!value.isWellFormed() || value.includes('\0')) {
    throw new JsonError('must be well-formed text without NUL', name);
  }
  return value;
}
