import { unreachable } from '../../domain/unreachable.ts';
import { jsonString } from '../../protocol/json.ts';
import { type Json, type JsonMember, textNode } from './json-tree.ts';
import type { Terms, TranslatedPlace } from './terms.ts';
import { translateText, UUID, uuidsIn } from './translate-text.ts';

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

/** The ids that have to be looked up before `translate`: of players, or looking like it. */
export function idsIn(json: Json): ReadonlySet<string> {
  const found = new Set<string>();
  collect(json, undefined, found);
  return found;
}

function collect(json: Json, name: string | undefined, found: Set<string>): void {
  if (json.kind === 'array') {
    const isList = name !== undefined && NAMES_PLAYERS.test(name);
    for (const item of json.items) {
      if (isList && isId(item)) found.add(plainText(item));
      collect(item, name, found);
    }
  } else if (json.kind === 'object') {
    for (const member of json.members) {
      for (const id of uuidsIn(member.name)) found.add(id);
      collect(member.value, member.name, found);
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

function translateObject(
  members: readonly JsonMember[],
  terms: Terms,
  place: TranslatedPlace,
): Json | undefined {
  const kept: JsonMember[] = [];
  const isItem = place === 'item' || place === 'template';
  const within = isItem && members.some(({ name }) => name === 'id') ? 'inside' : place;
  for (const member of members) {
    if (NAMES_A_PLAYER.test(member.name) && isId(member.value)) {
      const user = terms.userOf.get(plainText(member.value));
      if (user === undefined && place === 'template') continue;
      if (user === undefined) return undefined;
      kept.push({ name: member.name, value: textNode(user) });
      continue;
    }
    const isKept = isItem && HOLDS_NO_ID.has(member.name) && isPlain(member.value);
    const translated = isKept ? member : translateMember(member, terms, within);
    if (translated !== undefined) kept.push(translated);
  }
  return { kind: 'object', members: kept };
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
  if (IS_UUID.test(name)) return terms.userOf.get(name.toLowerCase());
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
