import { createHash } from 'node:crypto';
import { CODES } from '../../domain/codes.ts';
import { failure } from '../../protocol/answers.ts';
import { jsonString } from '../../protocol/json.ts';
import type { BonusCall } from '../context.ts';
import type { Told } from '../outcome.ts';
import { harmfulMember } from '../translation/fields.ts';
import { canonicalText, type Json, type Member } from '../translation/json-tree.ts';

/** A body for the service with these members, the account's `cid` first. */
export function bodyOf(call: BonusCall, members: Readonly<Record<string, string>>): string {
  const rest = Object.entries(members).map(([name, raw]) => `,${jsonString(name)}:${raw}`);
  return `{"cid":${jsonString(call.account.cid)}${rest.join('')}}`;
}

/** An object with some members' values replaced, in their places. */
export function withMembers(json: Json, changes: Readonly<Record<string, Json>>): Json {
  if (json.kind !== 'object') return json;
  const members = json.members.map((member): Member => {
    const value = Object.hasOwn(changes, member.name) ? changes[member.name] : undefined;
    return value === undefined ? member : { name: member.name, value };
  });
  return { kind: 'object', members };
}

/**
 * What makes two bodies of an operator the same: all but `cid`, whatever the order of members and
 * the spelling of numbers.
 */
export function bodyHash(body: Json): Buffer {
  const members = body.kind === 'object' ? body.members.filter(({ name }) => name !== 'cid') : [];
  return createHash('sha256')
    .update(canonicalText({ kind: 'object', members }))
    .digest();
}

/**
 * The 400 for a member that may not be passed on; undefined where there is none. The body's own
 * members have their rules; what stands in any other is looked at to its ground.
 */
export function refuseHarmful(json: Json, own: readonly string[], path = ''): Told | undefined {
  if (json.kind === 'array') {
    return firstRefused(json.items.map((item, index) => [item, `${path}${index}.`]));
  }
  if (json.kind !== 'object') return undefined;
  const harmful = harmfulMember(
    json.members.map(({ name }) => name),
    own,
  );
  if (harmful !== undefined) {
    const message = `${path}${shortened(harmful)}: must not be given`;
    return { answer: failure(CODES.validation, message), outcome: 'invalid' };
  }
  const others = json.members.filter(({ name }) => !own.includes(name));
  return firstRefused(others.map(({ name, value }) => [value, `${path}${shortened(name)}.`]));
}

function firstRefused(inside: readonly (readonly [value: Json, path: string])[]): Told | undefined {
  for (const [value, path] of inside) {
    const told = refuseHarmful(value, [], path);
    if (told !== undefined) return told;
  }
  return undefined;
}

const shortened = (name: string) => name.slice(0, 64);
