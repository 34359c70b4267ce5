import { jsonString } from '../protocol/json.ts';
import { type Json, type Member, textNode } from './json-tree.ts';

/**
 * What leaves towards an operator, in its own terms (I8): `cid` is the operator's, every player is
 * called as the operator calls him, and no id of the aggregator's is left. Pure; who a player is
 * was looked up before, for this operator alone.
 */
export interface Terms {
  /** The account's key at the service; never leaves. */
  readonly serviceCid: string;
  readonly operatorCid: string;
  /** The aggregator's ids of players of this operator, to the operator's. */
  readonly userOf: ReadonlyMap<string, string>;
}

/** Members that hold a player's id, as far as they are known or to be expected. */
const NAMES_A_PLAYER = /^(?:user|player)(?:_?id)?$|^uid$/i;

/** What an operator itself gave, or the protocol knows to hold no id: passes to the letter. */
const HOLDS_NO_ID: ReadonlySet<string> = new Set([
  'name',
  'type',
  'status',
  'disciplines',
  'availableCountries',
  'availableTournaments',
]);

/** What the gateway's own ids of players look like. */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const IS_UUID = new RegExp(`^${UUID.source}$`, 'i');

/** Stands where an id was that the operator may not see. */
const HIDDEN = '[hidden]';

/** `item`: a template or bonus of the protocol. `error`: whatever shape, an id may be anywhere. */
export type Place = 'item' | 'error';

/** The ids that have to be looked up before `translate`: of players, or looking like it. */
export function idsIn(json: Json): ReadonlySet<string> {
  const found = new Set<string>();
  collect(json, undefined, found);
  return found;
}

function collect(json: Json, name: string | undefined, found: Set<string>): void {
  if (json.kind === 'array') {
    for (const item of json.items) collect(item, name, found);
  } else if (json.kind === 'object') {
    for (const member of json.members) {
      for (const [id] of member.name.matchAll(UUID)) found.add(id.toLowerCase());
      collect(member.value, member.name, found);
    }
  } else if (json.kind === 'text') {
    if (name !== undefined && NAMES_A_PLAYER.test(name)) found.add(json.value);
    for (const [id] of json.value.matchAll(UUID)) found.add(id.toLowerCase());
  } else if (json.kind === 'number' && name !== undefined && NAMES_A_PLAYER.test(name)) {
    found.add(json.raw);
  }
}

/**
 * @returns undefined for an entry that speaks of a player who is not this operator's: such an entry
 *   must not leave at all
 */
export function translate(json: Json, terms: Terms, place: Place): Json | undefined {
  switch (json.kind) {
    case 'object': {
      const members: Member[] = [];
      for (const member of json.members) {
        if (NAMES_A_PLAYER.test(member.name) && isId(member.value)) {
          const user = terms.userOf.get(plainText(member.value));
          if (user === undefined) return undefined;
          members.push({ name: member.name, value: textNode(user) });
          continue;
        }
        const translated = translateMember(member, terms, place);
        if (translated !== undefined) members.push(translated);
      }
      return { kind: 'object', members };
    }
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
  return json satisfies never;
}

function translateMember(member: Member, terms: Terms, place: Place): Member | undefined {
  if (place === 'item' && HOLDS_NO_ID.has(member.name)) return member;
  const name = translateName(member.name, terms, place);
  const value = translate(member.value, terms, place);
  return name === undefined || value === undefined ? undefined : { name, value };
}

/** A list may be keyed by player; a key of somebody else's takes its entry with it. */
function translateName(name: string, terms: Terms, place: Place): string | undefined {
  if (IS_UUID.test(name)) return terms.userOf.get(name.toLowerCase());
  if (place === 'error') return terms.userOf.get(name) ?? translateText(name, terms, place);
  return name;
}

/** A text of the service's for people, such as an error's message. */
export function translateText(text: string, terms: Terms, place: Place): string {
  if (text === terms.serviceCid) return terms.operatorCid;
  const hidden = text.replaceAll(UUID, (id) => terms.userOf.get(id.toLowerCase()) ?? HIDDEN);
  if (place === 'item') return hidden;
  let told = replaceWord(hidden, terms.serviceCid, terms.operatorCid);
  // Players that were brought along from before have ids of any form.
  for (const [userId, user] of terms.userOf) {
    if (!IS_UUID.test(userId)) told = replaceWord(told, userId, user);
  }
  return told;
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

/** Replaces a word that stands by itself: `6` is not a part of `16`. */
function replaceWord(text: string, word: string, by: string): string {
  if (word === '' || !text.includes(word)) return text;
  const escaped = word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.replaceAll(new RegExp(`(?<![\\w.~-])${escaped}(?![\\w~-])`, 'g'), () => by);
}
