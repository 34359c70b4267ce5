import { CODES } from '../../domain/codes.ts';
import { unreachable } from '../../domain/unreachable.ts';
import type { Exchange } from '../../outbound/http-call.ts';
import type { HttpResponse } from '../../outbound/http-message.ts';
import { type JsonDocument, JsonError, parseJsonObject } from '../../protocol/json.ts';
import type { BonusMethod } from '../method-names.ts';

/** What became of one call of the service's bonus API. */
export type BonusApiAnswer =
  | { readonly kind: 'answered'; readonly document: JsonDocument }
  /** A definite no: nothing was done. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly code: number | undefined;
      readonly message: string | undefined;
      /** Of a 429: when to ask again. */
      readonly retryAfterSeconds?: number | undefined;
    }
  /**
   * The service does not take the gateway's own signature or key, or is not at the address: a
   * definite no as well, but no operator's fault.
   */
  | { readonly kind: 'unauthorized'; readonly status: number; readonly error: string }
  /** It answered, but nobody can tell what it did. */
  | { readonly kind: 'failed'; readonly error: string; readonly instead?: Instead }
  /** It may have done it; no (whole) answer came. */
  | { readonly kind: 'silent'; readonly error: string }
  /** Certainly not one byte of it left. */
  | {
      readonly kind: 'notSent';
      readonly reason: 'breaker' | 'bulkhead' | 'connection' | 'deadline';
      /** This process had no socket or memory for it: nothing is said about the service. */
      readonly isOwnShortage?: true;
    };

/**
 * What came with HTTP 200 in the place of what was asked for. It mostly is an error's body, and must
 * pass neither for a success nor, in a write, for a definite no.
 */
interface Instead {
  readonly code: number | undefined;
}

/** What a success holds, at least one of them (docs/protocol.md, Bonus API). */
const HOLDS: Readonly<Record<BonusMethod, readonly string[]>> = {
  templates: ['items'],
  template: ['id'],
  'templates/add': ['id'],
  'player/bonuses': ['items'],
  bonus: ['id'],
  'bonus/applyBatch': ['items', 'errorItems'],
  'bonus/revokeBatch': ['items', 'errorItems'],
};

/** Codes of the service for what does not exist (docs/protocol.md, Older codes). */
const MISSING_CODES: ReadonlySet<number | undefined> = new Set([30, 32]);

/** Of a body that is nothing at all but white space. */
const NOTHING_BYTES_MAX = 64;

/** Request timeout: an HTTP refusal that comes after the request may have been read. */
const REQUEST_TIMEOUT = 408;

/** The meaning of an exchange; its error bodies are not documented, so every shape is borne. */
export function judge(exchange: Exchange, method: BonusMethod): BonusApiAnswer {
  switch (exchange.kind) {
    case 'notSent': {
      const { reason, isOwnShortage } = exchange;
      return { kind: 'notSent', reason, ...(isOwnShortage && { isOwnShortage }) };
    }
    case 'failed':
      return exchange.fault === 'bad_answer'
        ? { kind: 'failed', error: exchange.error }
        : { kind: 'silent', error: exchange.error };
    case 'response':
      return judgeResponse(exchange, method);
  }
  return unreachable(exchange);
}

/** Says nothing about what was asked for: nobody has looked at it. */
const TOO_MANY_REQUESTS = 429;

/** Refusals with such a code are about what lies behind the service: it may have done what was asked. */
const UNCERTAIN_CODES: ReadonlySet<number | undefined> = new Set([CODES.timeout, CODES.system]);

/** Whether the service may have done what it was asked for, although it did not say so. */
export function mayBeDone(answer: Exclude<BonusApiAnswer, { kind: 'answered' }>): boolean {
  switch (answer.kind) {
    case 'failed':
    case 'silent':
      return true;
    case 'refused':
      // Turned away at the door, whatever code stands beside it: the gateway's own 429 has 10 there.
      return answer.status !== TOO_MANY_REQUESTS && UNCERTAIN_CODES.has(answer.code);
    case 'unauthorized':
    case 'notSent':
      return false;
  }
  return unreachable(answer);
}

/** Whether an answer says that there is no such template or bonus. */
export function saysMissing(answer: BonusApiAnswer): boolean {
  if (answer.kind === 'failed') return MISSING_CODES.has(answer.instead?.code);
  if (answer.kind !== 'refused' || UNCERTAIN_CODES.has(answer.code)) return false;
  return answer.status === 404 || MISSING_CODES.has(answer.code);
}

/**
 * Whether an answer says that one template cannot be shown in a list, for which the others must not
 * be kept back: there is none, or the service has another definite no for this id.
 */
export function refusesToShow(answer: BonusApiAnswer): boolean {
  if (saysMissing(answer)) return true;
  if (answer.kind !== 'refused' || answer.status === TOO_MANY_REQUESTS) return false;
  // Whoever is blocked is refused all of them: that is the answer, and no empty list.
  return answer.code !== CODES.blocked && !mayBeDone(answer);
}

/**
 * Whether an answer may be the service's way to say that an id does not exist. How it does is not
 * documented, so whatever is no sign of a fault counts: any refusal, with HTTP 200 too, and a page
 * instead of JSON as many servers have it for what they do not find.
 */
export function mayMeanMissing(answer: BonusApiAnswer): boolean {
  if (answer.kind === 'refused') return answer.status !== TOO_MANY_REQUESTS;
  if (answer.kind === 'failed') return answer.instead !== undefined;
  return answer.kind === 'unauthorized' && answer.status === 404;
}

/**
 * Whether an answer says that the service knows no such player, as it may of one whom nobody has
 * given a bonus yet (docs/protocol.md, Older codes: 2, user not found).
 */
export function saysNoPlayer(answer: BonusApiAnswer): boolean {
  if (answer.kind === 'failed') return answer.instead?.code === CODES.notFound;
  return answer.kind === 'refused' && (answer.status === 404 || answer.code === CODES.notFound);
}

function judgeResponse(
  { status, body, retryAfter }: HttpResponse,
  method: BonusMethod,
): BonusApiAnswer {
  const document = documentOf(body);
  if (status === 200 && document !== undefined) return judgeSuccess(document, method);
  // Many servers say so that they have found nothing.
  if (status === 200 && isNothing(body)) {
    return { kind: 'failed', error: 'HTTP 200: nothing', instead: { code: undefined } };
  }
  if (status < 400 || status >= 500 || status === REQUEST_TIMEOUT) {
    const what = status === 200 ? 'its body is no JSON object' : 'no success';
    return { kind: 'failed', error: `HTTP ${status}: ${what}` };
  }
  const { code, message } = document?.value ?? {};
  // A proxy's or another server's 404 says nothing about a template or bonus.
  const isElsewhere = status === 404 && document === undefined;
  if (status === 401 || status === 403 || code === CODES.badSignature || isElsewhere) {
    return { kind: 'unauthorized', status, error: `HTTP ${status}, code ${String(code)}` };
  }
  return {
    kind: 'refused',
    status,
    code: integer(code),
    message: typeof message === 'string' ? message : undefined,
    retryAfterSeconds: status === TOO_MANY_REQUESTS ? secondsOf(retryAfter) : undefined,
  };
}

function isNothing(body: Buffer): boolean {
  if (body.length > NOTHING_BYTES_MAX) return false;
  const text = body.toString('latin1').trim();
  return text === '' || text === 'null';
}

function judgeSuccess(document: JsonDocument, method: BonusMethod): BonusApiAnswer {
  const members = HOLDS[method];
  if (members.some((name) => Object.hasOwn(document.value, name))) {
    return { kind: 'answered', document };
  }
  const code = integer(document.value.code);
  const error = `HTTP 200: no ${members.join(', no ')}, code ${code ?? '-'}`;
  return { kind: 'failed', error, instead: { code } };
}

function integer(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

/** Where the service names no number of seconds, a moment: operators are to wait in any case. */
function secondsOf(retryAfter: string | undefined): number {
  return /^[1-9]\d{0,5}$/.test(retryAfter ?? '') ? Number(retryAfter) : 1;
}

function documentOf(body: Buffer): JsonDocument | undefined {
  try {
    return parseJsonObject(body);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
