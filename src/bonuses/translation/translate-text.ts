import type { Terms, TranslatedPlace } from './terms.ts';

/** The form of the gateway's own player ids. */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

const UUID_CHARS = 36;
const ID_CHARS_MAX = 64;

const IS_UUID = new RegExp(`^${UUID.source}$`, 'i');

export function isUuid(text: string): boolean {
  return IS_UUID.test(text);
}

/** All UUIDs in a text, as written and in lower case. */
export function uuidsIn(text: string): readonly string[] {
  if (text.length < UUID_CHARS) return [];
  return Array.from(text.matchAll(UUID)).flatMap(([id]) => [id, id.toLowerCase()]);
}

/** The operator's id for a player's UUID: the gateway's are in lower case, imported ones in any. */
export function userOfUuid({ userOf }: Terms, id: string): string | undefined {
  return userOf.get(id) ?? userOf.get(id.toLowerCase());
}

/** Replaces an id that the operator may not see. */
const HIDDEN = '[hidden]';

/** A separate word: `6` does not match within `16` or `3.6`. Every UUID is in one word. */
const WORD = /[\w~-]+(?:\.[\w~-]+)*/;
const IS_WORD = new RegExp(`^${WORD.source}$`);

/** A key of this length is not part of a word by chance: it is replaced everywhere. */
const DISTINCT_CHARS_MIN = 8;

/** One pattern per terms object, since an answer may have thousands of texts. */
const patterns = new WeakMap<Terms, RegExp>();

/**
 * A text of the service in the operator's terms. Each word is replaced once: an operator's id for one player
 * may equal the aggregator's for another. An error may quote the request, or the secret.
 */
export function translateText(text: string, terms: Terms, place: TranslatedPlace): string {
  const { serviceCid, operatorCid } = terms;
  if (text === serviceCid) return operatorCid;
  // Most texts of a page with a thousand bonuses: bets wait while it is processed.
  if (place !== 'error' && text.length < UUID_CHARS && !text.includes(serviceCid)) return text;
  const shown = place === 'error' ? terms.masked(text) : text;
  const translated = shown.replaceAll(patternOf(terms), (word) =>
    translateWord(word, terms, place),
  );
  return serviceCid.length < DISTINCT_CHARS_MIN || !translated.includes(serviceCid)
    ? translated
    : translated.replaceAll(keysIn(terms), () => operatorCid);
}

/** The service's key wherever it is, and an operator's that contains it: in that one it stays. */
function keysIn({ serviceCid, operatorCid }: Terms): RegExp {
  const own = operatorCid.includes(serviceCid) ? `${asPattern(operatorCid)}|` : '';
  return new RegExp(own + asPattern(serviceCid), 'g');
}

function asPattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function translateWord(word: string, terms: Terms, place: TranslatedPlace): string {
  // Imported players have ids of any form; in items they only occur in members.
  const isKnown = (one: string) => one === terms.serviceCid || place === 'error';
  const idOf = (one: string) =>
    one === terms.serviceCid ? terms.operatorCid : terms.userOf.get(one);
  // No id is longer: of a word of a megabyte only its beginning is tried.
  const charsMax = Math.max(ID_CHARS_MAX, terms.serviceCid.length);
  const first = word.length <= charsMax ? word.length : word.lastIndexOf('.', charsMax);
  for (let end = first; end > 0; end = word.lastIndexOf('.', end - 1)) {
    const start = word.slice(0, end);
    const known = isKnown(start) ? idOf(start) : undefined;
    if (known !== undefined) return known + hideIds(word.slice(end), terms);
  }
  return hideIds(word, terms);
}

function hideIds(text: string, terms: Terms): string {
  return text.replaceAll(UUID, (id) => userOfUuid(terms, id) ?? HIDDEN);
}

/** Matches words and, with precedence, ids that are not single words, such as `old:7`. */
function patternOf(terms: Terms): RegExp {
  const known = patterns.get(terms);
  if (known !== undefined) return known;
  const odd = [terms.serviceCid, ...terms.userOf.keys()]
    .filter((id) => id !== '' && !IS_WORD.test(id))
    .toSorted((a, b) => b.length - a.length)
    .map(asPattern);
  const before = odd.length === 0 ? '' : `(?<![\\w.~-])(?:${odd.join('|')})(?![\\w~-])|`;
  const pattern = new RegExp(before + WORD.source, 'g');
  patterns.set(terms, pattern);
  return pattern;
}
