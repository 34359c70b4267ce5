import { canonicalAmount } from '../../domain/amount.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { Slices } from '../../lib/slices.ts';
import { type JsonDocument, jsonString } from '../../protocol/json.ts';
import { type ScannedValue, type Span, scanJson } from '../../protocol/json-scan.ts';

/** A JSON value with the source text of its numbers (I9) and its members in order. */
export type Json =
  | { readonly kind: 'object'; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly items: readonly Json[] }
  | { readonly kind: 'text'; readonly value: string; readonly raw: string }
  | { readonly kind: 'number'; readonly raw: string }
  | { readonly kind: 'word'; readonly raw: string };

export interface JsonMember {
  /** Unescaped. */
  readonly name: string;
  readonly value: Json;
}

/** The tree of a document, whose grammar and depth were checked when it was parsed. */
export function treeOf({ text }: JsonDocument): Json {
  return treeOfText(text);
}

/** Depth of an answer's members and the entries of its lists. */
const LISTS_DEPTH = 2;

/** The tree of an answer with a list, built in slices, so that callbacks do not wait. */
export async function treeInSlices({ text }: JsonDocument): Promise<Json> {
  const slices = new Slices();
  const { inside } = scanJson(text, { notedDepthMax: LISTS_DEPTH });
  if (inside?.kind !== 'object') return treeOfText(text);
  const members: JsonMember[] = [];
  for (const member of inside.members) {
    members.push({ name: member.name, value: await listOf(text, member, slices) });
  }
  return { kind: 'object', members };
}

async function listOf(text: string, list: ScannedValue, slices: Slices): Promise<Json> {
  const part = ({ start, end }: Span) => treeOfText(text.slice(start, end));
  switch (list.inside?.kind) {
    case 'object': {
      const members = await slices.map(list.inside.members, (member) => ({
        name: member.name,
        value: part(member),
      }));
      return { kind: 'object', members };
    }
    case 'array':
      return { kind: 'array', items: await slices.map(list.inside.elements, part) };
    case undefined:
      return part(list);
  }
  return unreachable(list.inside);
}

function treeOfText(text: string): Json {
  const { inside } = scanJson(text, {});
  return jsonOf(text, { start: 0, end: text.length, inside });
}

function jsonOf(text: string, { start, end, inside }: ScannedValue): Json {
  switch (inside?.kind) {
    case 'object': {
      const members = inside.members.map((member) => ({
        name: member.name,
        value: jsonOf(text, member),
      }));
      return { kind: 'object', members };
    }
    case 'array':
      return { kind: 'array', items: inside.elements.map((element) => jsonOf(text, element)) };
    case undefined:
      return leafOf(text.slice(start, end));
  }
  return unreachable(inside);
}

/** @param raw a string, a number, `true`, `false` or `null` */
function leafOf(raw: string): Json {
  if (raw.startsWith('"')) return { kind: 'text', value: unescaped(raw), raw };
  return { kind: /^[-0-9]/.test(raw) ? 'number' : 'word', raw };
}

export function treeText(json: Json): string {
  switch (json.kind) {
    case 'object': {
      const members = json.members.map(
        ({ name, value }) => `${jsonString(name)}:${treeText(value)}`,
      );
      return `{${members.join(',')}}`;
    }
    case 'array':
      return `[${json.items.map(treeText).join(',')}]`;
    case 'text':
    case 'number':
    case 'word':
      return json.raw;
  }
  return unreachable(json);
}

/** One text for all spellings of the same content: members by name, numbers by value. Arrays keep their order. */
export function canonicalText(json: Json): string {
  switch (json.kind) {
    case 'object': {
      const members = json.members
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, value }) => `${jsonString(name)}:${canonicalText(value)}`);
      return `{${members.join(',')}}`;
    }
    case 'array':
      return `[${json.items.map(canonicalText).join(',')}]`;
    case 'text':
      return jsonString(json.value);
    case 'number':
      return canonicalAmount(json.raw);
    case 'word':
      return json.raw;
  }
  return unreachable(json);
}

export function textNode(value: string): Json {
  return { kind: 'text', value, raw: jsonString(value) };
}

/** The value of an object's member; undefined if there is none, or `json` is not an object. */
export function memberOf(json: Json | undefined, name: string): Json | undefined {
  if (json?.kind !== 'object') return undefined;
  return json.members.find((member) => member.name === name)?.value;
}

/** The elements of an array, or the values of an object: the protocol has both for lists. */
export function entriesOf(json: Json | undefined): readonly Json[] {
  if (json?.kind === 'array') return json.items;
  return json?.kind === 'object' ? json.members.map(({ value }) => value) : [];
}

/** An id of the service (service protocol, Resources: integer) that PostgreSQL can hold. */
const ID = /^(?:0|[1-9]\d{0,17})$/;

/** The text of a member that is an id; undefined for anything else. */
export function idOf(json: Json | undefined, name: string): string | undefined {
  const value = memberOf(json, name);
  return value?.kind === 'number' && ID.test(value.raw) ? value.raw : undefined;
}

/** The text of a member that is a string; undefined for anything else. */
export function textOf(json: Json | undefined, name: string): string | undefined {
  const value = memberOf(json, name);
  return value?.kind === 'text' ? value.value : undefined;
}

function unescaped(literal: string): string {
  return literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
}
