import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { OperatorConfig } from '../config/schema.ts';
import type { Clock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { unreachable } from '../domain/unreachable.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { JsonDocument } from '../protocol/json.ts';
import type { NonceUse } from '../store/sessions/nonces.ts';
import { readFields } from './fields.ts';
import { freshMembers } from './signed-members.ts';

/** How far `at` may be from now, either way (docs/contract.md, Operator API). */
const AT_TOLERANCE_MS = 5 * 60 * 1000;

/**
 * How long after `at` a nonce is remembered, by PostgreSQL's clock: until no process whose clock is up to ten minutes
 * behind that one takes its request any more. A process that is further behind refuses it.
 */
const NONCE_KEPT_MS = AT_TOLERANCE_MS + 10 * 60_000;

/** With its zone: without one, nobody can say how old it is. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const NOT_NOW = 'at: must be within 5 minutes of now';

/** Where nonces are remembered: all processes of a gateway share it. */
export interface NonceMemory {
  /**
   * @param until it is remembered, and taken; by the memory's own clock, whatever a process has
   * @throws GatewayError `DATABASE_UNAVAILABLE`
   */
  use(operatorId: string, nonceHash: Buffer, until: Date): Promise<NonceUse>;
}

/**
 * Holds a verified request to what it says of itself: which path it is for, when it was made, and
 * that it comes once. So bytes that somebody captured are worth nothing elsewhere, later or again.
 *
 * @param path that the request came to
 * @returns the refusal, undefined where there is none
 * @throws GatewayError `DATABASE_UNAVAILABLE` when nobody can say whether a nonce is new
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
  // Last, so that a request that is refused anyhow does not use its nonce up.
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

type Fresh = Readonly<z.output<typeof freshMembers>>;

function missing(fields: Fresh, isRequired: boolean): string | undefined {
  if (isRequired) {
    const absent = (['path', 'at', 'nonce'] as const).find((name) => fields[name] === undefined);
    return absent && `${absent}: must be given`;
  }
  // A nonce that never grows old would have to be remembered for ever.
  const lacksTime = fields.nonce !== undefined && fields.at === undefined;
  return lacksTime ? 'at: must be given beside nonce' : undefined;
}

function wrongTime(clock: Clock, at: string): string | undefined {
  const atMs = INSTANT.test(at) ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(atMs)) return 'at: must be an ISO 8601 time with its zone';
  const isNear = Math.abs(clock.nowMs() - atMs) <= AT_TOLERANCE_MS;
  return isNear ? undefined : NOT_NOW;
}
