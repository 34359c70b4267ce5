import { createHash } from 'node:crypto';
import { canonicalAmount } from '../domain/amount.ts';
import { checkOptionalNumber } from './fields.ts';
import { type JsonDocument, JsonError } from './json.ts';

/** A key up to this length is stored readably in the journal; a longer one is hashed. */
const READABLE_LENGTH_MAX = 60;

/**
 * Checks a bet's odds: `coefficient`, `boosterCoefficient` and the coefficients in `metadata`,
 * which is not validated further, because real messages deviate there (docs/protocol.md,
 * `eventDate`).
 *
 * @throws JsonError naming the member, e.g. `metadata.0.coefficient`
 */
export function checkCoefficients(document: JsonDocument): void {
  checkOptionalNumber(document, 'coefficient');
  checkOptionalNumber(document, 'boosterCoefficient');
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
  if (coefficient === null) return;
  if (typeof coefficient !== 'number' || !Number.isFinite(coefficient)) {
    throw new JsonError('must be a number', `metadata.${index}.coefficient`);
  }
}

/**
 * The same text for all updates that set a bet's odds to the same values (docs/contract.md, The same
 * operation): `coefficient;boosterCoefficient;` and the coefficients in `metadata` in order, as canonical
 * decimals, so that 1.20 is 1.2. A missing number leaves its position empty.
 *
 * For an express bet with many legs, the key is its SHA-256 (64 hexadecimal digits; never mistaken
 * for a readable key, which contains semicolons): the key is stored in the bet's row, which every
 * operation of the bet rewrites, so it must stay small whatever was sent.
 *
 * @param document of an update whose coefficients were checked
 */
export function coefficientsKey(document: JsonDocument): string {
  const legs = document.items('metadata') ?? [];
  const key = [
    canonicalOf(document, 'coefficient'),
    canonicalOf(document, 'boosterCoefficient'),
    legs.map((leg) => (leg === undefined ? '' : canonicalOf(leg, 'coefficient'))).join(','),
  ].join(';');
  return key.length <= READABLE_LENGTH_MAX ? key : createHash('sha256').update(key).digest('hex');
}

function canonicalOf(document: JsonDocument, name: string): string {
  const exact = document.numberText(name);
  return exact === undefined ? '' : canonicalAmount(exact);
}
