import { unreachable } from '../../domain/unreachable.ts';
import { Slices } from '../../lib/slices.ts';
import { jsonString } from '../../protocol/json.ts';
import { type Json, type JsonMember, textNode } from './json-tree.ts';
import type { Terms, TranslatedPlace } from './terms.ts';
import { translateText, UUID, userOfUuid, uuidsIn } from './translate-text.ts';

/** Members that hold a player's id, as far as they are known or to be expected. */
const NAMES_A_PLAYER = /^(?:user|player)(?:_?id)?$|^uid$/i;
/** Lists of such. */
const NAMES_PLAYERS = /^(?:user|player)s?(?:_?ids?)?$/i;

/** What an operator itself gave, or the protocol knows to hold no id: passes to the letter. */
const HOLDS_NO_ID: ReadonlySet<string> = new Set([
  'name',
  'type',
  'status',
  'disciplines',
  'availableCountries',
  'availableTournaments',
]);

const IS_UUID = new RegExp(`^${UUID.source}$`, 'i');

/**
 * The ids that have to be looked up before `translate`: of players, or looking like it. In slices of a few
 * milliseconds.
 */
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

/** A value, and the name of the member that it or its list is. */
interface Named {
  readonly json: Json;
  readonly name: string | undefined;
}

/** @param within gets what stands inside */
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

/**
 * @returns undefined for an entry that speaks of a player who is not this operator's: such an entry
 *   must not leave at all
 */
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

/**
 * The same for a list of the service's, be it keyed or not, in slices of a few milliseconds: callbacks do
 * not wait for a thousand bonuses.
 */
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

/** What becomes of a member; `foreign`: its object speaks of somebody else's player. */
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

/** A list's players as the operator calls them, without those who are not its own. */
function playersOf(items: readonly Json[], terms: Terms, place: TranslatedPlace): Json {
  const translated = items.map((item) => {
    if (!isId(item)) return translate(item, terms, place);
    const user = terms.userOf.get(plainText(item));
    return user === undefined ? undefined : textNode(user);
  });
  return { kind: 'array', items: translated.filter((item) => item !== undefined) };
}

/** A list may be keyed by player; a key of somebody else's takes its entry with it. */
function translateName(name: string, terms: Terms, place: TranslatedPlace): string | undefined {
  if (IS_UUID.test(name)) return userOfUuid(terms, name);
  return translateText(name, terms, place);
}

/** A text or a list of such: in anything else there may be more than the name promises. */
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
