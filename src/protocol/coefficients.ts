import { createHash } from 'node:crypto';
import { canonicalAmount, isNonNegativeFinite } from '../domain/amount.ts';
import { checkOptionalNumber } from './fields.ts';
import { type JsonDocument, JsonError } from './json.ts';

/** A key up to this length is stored readably in the journal; a longer one is hashed. */
const READABLE_LENGTH_MAX = 60;

/**
 * Checks `coefficient`, `boosterCoefficient` and the coefficients in `metadata`, where real messages deviate.
 * @throws JsonError naming the member, e.g. `metadata.0.coefficient`
 */
export function checkCoefficients(document: JsonDocument): void {
  checkOptionalNumber(document, 'coefficient');
  checkOptionalNumber(document, 'boosterCoefficient');
  checkMetadata(document);
}

/** @throws JsonError naming the outcome, e.g. `metadata.0.coefficient` */
export function checkMetadata(document: JsonDocument): void {
  const metadata = document.value.metadata;
  if (metadata === undefined || metadata === null) return;
  if (!Array.isArray(metadata)) throw new JsonError('must be a list of objects', 'metadata');
  metadata.forEach(checkItem);
}

function checkItem(item: unknown, index: number): void {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    throw new JsonError('must be an object', `metadata.${index}`);
  }
  const coefficient: unknown = 'coefficient' in item ? item.coefficient : null;
  if (!isCoefficient(coefficient)) {
    throw new JsonError('must be a number', `metadata.${index}.coefficient`);
  }
}

function isCoefficient(value: unknown): boolean {
  return value === null || (typeof value === 'number' && Number.isFinite(value));
}

/** `metadata` without what `checkMetadata` refuses in it, as raw JSON; undefined if it is no list. */
export function metadataWithoutOdd(document: JsonDocument): string | undefined {
  const legs = document.items('metadata')?.filter((leg) => leg !== undefined);
  return legs && `[${legs.map(withoutOddCoefficient).join(',')}]`;
}

function withoutOddCoefficient(leg: JsonDocument): string {
  const { coefficient = null } = leg.value;
  return leg.replace(isCoefficient(coefficient) ? {} : { coefficient: undefined });
}

/**
 * The same text for all updates with the same odds: `coefficient;boosterCoefficient;` and those in `metadata`, as
 * canonical decimals; a missing number leaves its position empty. Of an express bet with many legs, the SHA-256:
 * it is stored in the bet's row. @param document what `checkCoefficients` would refuse counts as missing
 */
export function coefficientsKey(document: JsonDocument): string {
  const legs = document.items('metadata')?.filter((leg) => leg !== undefined) ?? [];
  const key = [
    oddsOf(document, 'coefficient'),
    oddsOf(document, 'boosterCoefficient'),
    legs
      .map((leg) => (isCoefficient(leg.value.coefficient) ? canonicalOf(leg, 'coefficient') : ''))
      .join(','),
  ].join(';');
  return key.length <= READABLE_LENGTH_MAX ? key : createHash('sha256').update(key).digest('hex');
}

function oddsOf(document: JsonDocument, name: string): string {
  const exact = document.numberText(name);
  return exact !== undefined && isNonNegativeFinite(exact) ? canonicalAmount(exact) : '';
}

function canonicalOf(document: JsonDocument, name: string): string {
  const exact = document.numberText(name);
  return exact === undefined ? '' : canonicalAmount(exact);
}
