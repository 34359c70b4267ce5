import { unreachable } from '../../domain/unreachable.ts';
import { Slices } from '../../lib/slices.ts';
import { jsonString } from '../../protocol/json.ts';
import { type Json, type JsonMember, textNode } from './json-tree.ts';
import type { Terms, TranslatedPlace } from './terms.ts';
import { isUuid, translateText, userOfUuid, uuidsIn } from './translate-text.ts';

/** Names of members that contain a player's id, known or likely ones. */
const NAMES_A_PLAYER = /^(?:user|player)(?:_?id)?$|^uid$/i;
/** Names of lists of such ids. */
const NAMES_PLAYERS = /^(?:user|player)s?(?:_?ids?)?$/i;

/** Members that the operator itself supplied, or that by the protocol contain no id: passed on unchanged. */
const HOLDS_NO_ID: ReadonlySet<string> = new Set([
  'name',
  'type',
  'status',
  'disciplines',
  'availableCountries',
  'availableTournaments',
]);

/** The ids to look up before `translate`: of players, or looking like those. Works in slices. */
export async function idsIn(json: Json): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const slices = new Slices();
  const waiting: Named[] = [{ json, name: undefined }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    collect(next, found, waiting);
    if (slices.isOver()) await slices.next();
  }
  return found;
}

/** A value, and the name of its member, or of the member whose list it is in. */
interface Named {
  readonly json: Json;
  readonly name: string | undefined;
}

/** @param within receives the nested values */
function collect({ json, name }: Named, found: Set<string>, within: Named[]): void {
  if (json.kind === 'array') {
    const isList = name !== undefined && NAMES_PLAYERS.test(name);
    for (const item of json.items) {
      if (isList && isId(item)) found.add(plainText(item));
      within.push({ json: item, name });
    }
  } else if (json.kind === 'object') {
    for (const member of json.members) {
      for (const id of uuidsIn(member.name)) found.add(id);
      within.push({ json: member.value, name: member.name });
    }
  } else if (json.kind === 'text') {
    if (name !== undefined && NAMES_A_PLAYER.test(name)) found.add(json.value);
    for (const id of uuidsIn(json.value)) found.add(id);
  } else if (json.kind === 'number' && name !== undefined && NAMES_A_PLAYER.test(name)) {
    found.add(json.raw);
  }
}

/** @returns undefined for an entry about another operator's player, which must not be sent at all */
export function translate(json: Json, terms: Terms, place: TranslatedPlace): Json | undefined {
  switch (json.kind) {
    case 'object':
      return translateObject(json.members, terms, place);
    case 'array': {
      const items = json.items.map((item) => translate(item, terms, place));
      return { kind: 'array', items: items.filter((item) => item !== undefined) };
    }
    case 'text':
      return changed(json, translateText(json.value, terms, place));
    case 'number':
    case 'word':
      return json;
  }
  return unreachable(json);
}

/** The same for a list of the service, keyed or not. Works in slices of a few milliseconds. */
export async function translateList(
  list: Json,
  terms: Terms,
  place: TranslatedPlace,
): Promise<Json | undefined> {
  const slices = new Slices();
  if (list.kind === 'array') {
    const items = await slices.map(list.items, (item) => translate(item, terms, place));
    return { kind: 'array', items: items.filter((item) => item !== undefined) };
  }
  if (list.kind !== 'object') return translate(list, terms, place);
  const within = placeWithin(list.members, place);
  return objectOf(
    await slices.map(list.members, (member) => translateEntry(member, terms, place, within)),
  );
}

function translateObject(
  members: readonly JsonMember[],
  terms: Terms,
  place: TranslatedPlace,
): Json | undefined {
  const within = placeWithin(members, place);
  return objectOf(members.map((member) => translateEntry(member, terms, place, within)));
}

function placeWithin(members: readonly JsonMember[], place: TranslatedPlace): TranslatedPlace {
  return isOfItem(place) && members.some(({ name }) => name === 'id') ? 'inside' : place;
}

function isOfItem(place: TranslatedPlace): boolean {
  return place === 'item' || place === 'template';
}

/** The translation of a member; `foreign`: its object is about another operator's player. */
type TranslatedEntry = JsonMember | 'left out' | 'foreign';

function objectOf(entries: readonly TranslatedEntry[]): Json | undefined {
  if (entries.includes('foreign')) return undefined;
  return { kind: 'object', members: entries.filter((entry) => typeof entry !== 'string') };
}

function translateEntry(
  member: JsonMember,
  terms: Terms,
  place: TranslatedPlace,
  within: TranslatedPlace,
): TranslatedEntry {
  if (NAMES_A_PLAYER.test(member.name) && isId(member.value)) {
    const user = terms.userOf.get(plainText(member.value));
    if (user === undefined) return place === 'template' ? 'left out' : 'foreign';
    return { name: member.name, value: textNode(user) };
  }
  const isKept = isOfItem(place) && HOLDS_NO_ID.has(member.name) && isPlain(member.value);
  return isKept ? member : (translateMember(member, terms, within) ?? 'left out');
}

function translateMember(
  member: JsonMember,
  terms: Terms,
  place: TranslatedPlace,
): JsonMember | undefined {
  const name = translateName(member.name, terms, place);
  const value =
    member.value.kind === 'array' && NAMES_PLAYERS.test(member.name)
      ? playersOf(member.value.items, terms, place)
      : translate(member.value, terms, place);
  return name === undefined || value === undefined ? undefined : { name, value };
}

/** A list's players by the operator's ids, without players of others. */
function playersOf(items: readonly Json[], terms: Terms, place: TranslatedPlace): Json {
  const translated = items.map((item) => {
    if (!isId(item)) return translate(item, terms, place);
    const user = terms.userOf.get(plainText(item));
    return user === undefined ? undefined : textNode(user);
  });
  return { kind: 'array', items: translated.filter((item) => item !== undefined) };
}

/** Translates a key, since lists may be keyed by player; undefined for another operator's player drops the entry. */
function translateName(name: string, terms: Terms, place: TranslatedPlace): string | undefined {
  if (isUuid(name)) return userOfUuid(terms, name);
  return translateText(name, terms, place);
}

/** A scalar or a list of texts: anything else may contain more than the member's name says. */
function isPlain(json: Json): boolean {
  return json.kind === 'array' ? json.items.every(({ kind }) => kind === 'text') : isScalar(json);
}

function isScalar({ kind }: Json): boolean {
  return kind !== 'object' && kind !== 'array';
}

function isId(json: Json): boolean {
  return json.kind === 'text' || json.kind === 'number';
}

function plainText(json: Json): string {
  return json.kind === 'text' ? json.value : json.kind === 'number' ? json.raw : '';
}

function changed(json: Extract<Json, { kind: 'text' }>, value: string): Json {
  return value === json.value ? json : { kind: 'text', value, raw: jsonString(value) };
}
