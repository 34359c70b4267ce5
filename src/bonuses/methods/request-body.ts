import { createHash } from 'node:crypto';
import { SIGNED_MEMBERS } from '../../operators/signed-members.ts';
import { jsonString } from '../../protocol/json.ts';
import type { BonusCall } from '../context.ts';
import {
  canonicalText,
  type Json,
  type JsonMember,
  textNode,
  treeText,
} from '../translation/json-tree.ts';

/** A body for the service with these members, the account's `cid` first. */
export function bodyOf(call: BonusCall, members: Readonly<Record<string, string>>): string {
  const rest = Object.entries(members).map(([name, raw]) => `,${jsonString(name)}:${raw}`);
  return `{"cid":${jsonString(call.account.cid)}${rest.join('')}}`;
}

/** An object with some members' values replaced in place. */
export function withMembers(json: Json, changes: Readonly<Record<string, Json>>): Json {
  if (json.kind !== 'object') return json;
  const members = json.members.map((member): JsonMember => {
    const value = Object.hasOwn(changes, member.name) ? changes[member.name] : undefined;
    return value === undefined ? member : { name: member.name, value };
  });
  return { kind: 'object', members };
}

/** The content of a request, without caller and time: this is compared, stored and sent on. */
export function contentOf(body: Json): Json {
  if (body.kind !== 'object') return body;
  const members = body.members.filter(({ name }) => !SIGNED_MEMBERS.includes(name));
  return { kind: 'object', members };
}

/** A hash that is equal for the same content, regardless of the order of members and spelling of numbers. */
export function contentHash(content: Json): Buffer {
  return createHash('sha256').update(canonicalText(content)).digest();
}

/** A body for the service with this content, the account's `cid` first. */
export function bodyWith(call: BonusCall, content: Json): string {
  const members = content.kind === 'object' ? content.members : [];
  const cid = { name: 'cid', value: textNode(call.account.cid) };
  return treeText({ kind: 'object', members: [cid, ...members] });
}
