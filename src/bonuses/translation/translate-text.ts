import type { Terms, TranslatedPlace } from './terms.ts';

/** What the gateway's own ids of players look like. */
export const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

const UUID_CHARS = 36;
const ID_CHARS_MAX = 64;

/** All of them that are in a text, as they stand there and in small letters. */
export function uuidsIn(text: string): readonly string[] {
  if (text.length < UUID_CHARS) return [];
  return Array.from(text.matchAll(UUID)).flatMap(([id]) => [id, id.toLowerCase()]);
}

/** The operator's name of a player who is called by a UUID: the gateway's have small letters, imported ones any. */
export function userOfUuid({ userOf }: Terms, id: string): string | undefined {
  return userOf.get(id) ?? userOf.get(id.toLowerCase());
}

/** Stands where an id was that the operator may not see. */
const HIDDEN = '[hidden]';

/** A word that stands by itself: `6` is not a part of `16` nor of `3.6`. Every UUID is in one. */
const WORD = /[\w~-]+(?:\.[\w~-]+)*/;
const IS_WORD = new RegExp(`^${WORD.source}$`);

/** A key of that length is no part of a word by chance: it is replaced wherever it stands. */
const DISTINCT_CHARS_MIN = 8;

/** Made once for the terms of an answer, which may have thousands of texts. */
const patterns = new WeakMap<Terms, RegExp>();

/**
 * A text of the service's in the operator's terms, such as an error's message. Each word is
 * exchanged once: what was put in is not looked at again, because an operator may call one player
 * as the aggregator calls another. What goes wrong at the service may have it quote the request, or the secret.
 */
export function translateText(text: string, terms: Terms, place: TranslatedPlace): string {
  const { serviceCid, operatorCid } = terms;
  if (text === serviceCid) return operatorCid;
  // Nearly all of a page with a thousand bonuses: bets wait while it is looked through.
  if (place !== 'error' && text.length < UUID_CHARS && !text.includes(serviceCid)) return text;
  const told = place === 'error' ? terms.masked(text) : text;
  const translated = told.replaceAll(patternOf(terms), (word) => translateWord(word, terms, place));
  return serviceCid.length < DISTINCT_CHARS_MIN
    ? translated
    : translated.replaceAll(serviceCid, operatorCid);
}

function translateWord(word: string, terms: Terms, place: TranslatedPlace): string {
  // Players that were brought along from before have ids of any form; items name them in members.
  const isKnown = (one: string) => one === terms.serviceCid || place === 'error';
  const idOf = (one: string) =>
    one === terms.serviceCid ? terms.operatorCid : terms.userOf.get(one);
  // No id is longer (docs/protocol.md, Limits); of a word of a megabyte only its beginning is
  // tried.
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

/** Finds words, and before them the ids that are none, such as `old:7`. */
function patternOf(terms: Terms): RegExp {
  const known = patterns.get(terms);
  if (known !== undefined) return known;
  const odd = [terms.serviceCid, ...terms.userOf.keys()]
    .filter((id) => id !== '' && !IS_WORD.test(id))
    .toSorted((a, b) => b.length - a.length)
    .map((id) => id.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const before = odd.length === 0 ? '' : `(?<![\\w.~-])(?:${odd.join('|')})(?![\\w~-])|`;
  const pattern = new RegExp(before + WORD.source, 'g');
  patterns.set(terms, pattern);
  return pattern;
}
