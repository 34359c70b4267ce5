import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { OperatorConfig } from '../config/schema/schema.ts';
import type { Clock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { unreachable } from '../domain/unreachable.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import { type JsonDocument, textFinder } from '../protocol/json.ts';
import type { NonceUse } from '../store/sessions/nonces.ts';
import { readFields } from './fields.ts';
import { freshMembers } from './signed-members.ts';

/** How far `at` may be from now, either way (docs/reference.md, Operator API). */
const AT_TOLERANCE_MS = 5 * 60 * 1000;

/** How long after `at` a nonce is kept: a process whose clock is ten minutes behind refuses it by then. */
const NONCE_KEPT_MS = AT_TOLERANCE_MS + 10 * 60_000;

/** The zone is required, the seconds are not: some languages omit them when they are 0. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

const NOT_NOW = 'at: must be within 5 minutes of now';

/** Where nonces are remembered: all processes of a gateway share it. */
export interface NonceMemory {
  /** @param until by the memory's own clock, not a process's @throws GatewayError `DATABASE_UNAVAILABLE` */
  use(operatorId: string, nonceHash: Buffer, until: Date): Promise<NonceUse>;
}

/**
 * Checks a verified request's path, time and nonce: a captured one is useless elsewhere, later or twice.
 * @param path to which it was sent @returns the refusal, or undefined if there is none
 * @throws GatewayError `DATABASE_UNAVAILABLE` when a nonce cannot be checked
 */
export async function refuseStale(
  clock: Clock,
  nonces: NonceMemory,
  { operator, document }: { operator: OperatorConfig; document: JsonDocument },
  path: string,
): Promise<Answer | undefined> {
  const read = readFields(freshMembers, document);
  if (!('fields' in read)) return read;
  const { at, nonce } = read.fields;
  const wrong =
    missing(read.fields, operator.api.freshness === 'required') ??
    (read.fields.path !== undefined && read.fields.path !== path
      ? `path: must be ${path}, where the request was sent to`
      : undefined) ??
    (at === undefined ? undefined : wrongTime(clock, at));
  if (wrong !== undefined) return failure(CODES.validation, wrong);
  if (nonce === undefined || at === undefined) return undefined;
  const nonceHash = createHash('sha256').update(nonce).digest();
  // Last, so that a request refused for another reason does not use up its nonce.
  const until = new Date(Date.parse(at) + NONCE_KEPT_MS);
  const use = await nonces.use(operator.id, nonceHash, until);
  switch (use) {
    case 'first':
      return undefined;
    case 'known':
      return failure(CODES.validation, 'nonce: was used before; send a new request with a new one');
    case 'tooLate':
      return failure(CODES.validation, NOT_NOW);
    default:
      return unreachable(use);
  }
}

/** Of a time with 64 characters nobody could say what it is. */
const AT_BYTES_MAX = 64;
const atIn = textFinder('at', AT_BYTES_MAX);

/** The refusal of a verified request whose time is over, found without reading the rest of it; undefined for others. */
export function refuseOutdated(clock: Clock, body: Buffer): Answer | undefined {
  const at = atIn(body);
  const isOutdated = at !== undefined && wrongTime(clock, at) === NOT_NOW;
  return isOutdated ? failure(CODES.validation, NOT_NOW) : undefined;
}

type Fresh = Readonly<z.output<typeof freshMembers>>;

function missing(fields: Fresh, isRequired: boolean): string | undefined {
  if (isRequired) {
    const absent = (['path', 'at', 'nonce'] as const).find((name) => fields[name] === undefined);
    return absent && `${absent}: must be given`;
  }
  // A nonce without a time would have to be remembered forever.
  const lacksTime = fields.nonce !== undefined && fields.at === undefined;
  return lacksTime ? 'at: must be given beside nonce' : undefined;
}

function wrongTime(clock: Clock, at: string): string | undefined {
  const atMs = INSTANT.test(at) ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(atMs)) return 'at: must be an ISO 8601 time with its zone';
  const isNear = Math.abs(clock.nowMs() - atMs) <= AT_TOLERANCE_MS;
  return isNear ? undefined : NOT_NOW;
}
