import { CODES } from '../../domain/codes.ts';
import { unreachable } from '../../domain/unreachable.ts';
import type { Health } from '../../outbound/breaker.ts';
import type { Exchange } from '../../outbound/http-call.ts';
import type { HttpResponse } from '../../outbound/http-message.ts';
import { type JsonDocument, jsonObjectIn } from '../../protocol/json.ts';
import type { BonusMethod } from '../method-names.ts';

/** The outcome of one call to the service's bonus API. */
export type BonusApiAnswer =
  | { readonly kind: 'answered'; readonly document: JsonDocument }
  /** A definite no: nothing was done. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly code: number | undefined;
      readonly message: string | undefined;
      /** Of a 429: how long to wait before asking again. */
      readonly retryAfterSeconds?: number | undefined;
    }
  /** The service does not accept our signature or key, or is not at the address: no operator's fault. */
  | { readonly kind: 'unauthorized'; readonly status: number; readonly error: string }
  /** It answered, but what it did is unknown. */
  | { readonly kind: 'failed'; readonly error: string; readonly instead?: Instead }
  /** It may have done it; no (whole) answer came. */
  | { readonly kind: 'silent'; readonly error: string }
  /** Certainly not one byte was sent. */
  | {
      readonly kind: 'notSent';
      readonly reason: 'breaker' | 'bulkhead' | 'connection' | 'deadline';
      /** Why no connection could be made. */
      readonly error?: string;
      /** This process had no socket or memory for it, which says nothing about the service. */
      readonly isOwnShortage?: true;
    };

/** An outcome in which the service did not confirm what it was asked. */
export type NotAnswered = Exclude<BonusApiAnswer, { kind: 'answered' }>;

/** What came with HTTP 200 instead of the content: neither a success nor, for a write, a definite no. */
interface Instead {
  readonly code: number | undefined;
}

/** A success has at least one of these members (service protocol, Bonus API). */
const HOLDS: Readonly<Record<BonusMethod, readonly string[]>> = {
  templates: ['items'],
  template: ['id'],
  'templates/add': ['id'],
  'player/bonuses': ['items'],
  bonus: ['id'],
  'bonus/applyBatch': ['items', 'errorItems'],
  'bonus/revokeBatch': ['items', 'errorItems'],
};

/** The service's codes for something that does not exist (service protocol, Older codes). */
const MISSING_CODES: ReadonlySet<number | undefined> = new Set([30, 32]);

/** The largest body that is checked for being nothing but white space. */
const NOTHING_BYTES_MAX = 64;

/** Request timeout: unlike other HTTP refusals, it may come after the request was read. */
const REQUEST_TIMEOUT = 408;

/** The meaning of an exchange; error bodies are not documented, so any shape is accepted. */
export function judge(exchange: Exchange, method: BonusMethod): BonusApiAnswer {
  switch (exchange.kind) {
    case 'notSent': {
      const { reason, error, isOwnShortage } = exchange;
      return { kind: 'notSent', reason, error, ...(isOwnShortage && { isOwnShortage }) };
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

/** What came instead of a success, for the log; nothing of the service's own message, which may be about a player. */
export function answerSummary(answer: NotAnswered): string {
  switch (answer.kind) {
    case 'notSent':
      return `not sent: ${answer.error ?? answer.reason}`;
    case 'refused':
      return `HTTP ${answer.status}, code ${answer.code ?? '-'}`;
    case 'unauthorized':
    case 'failed':
    case 'silent':
      return answer.error;
  }
  return unreachable(answer);
}

/** Says nothing about the request itself: the service has not processed it. */
const TOO_MANY_REQUESTS = 429;

/** Refusals with these codes are about systems behind the service: it may have done what was asked. */
const UNCERTAIN_CODES: ReadonlySet<number | undefined> = new Set([CODES.timeout, CODES.system]);

/** Whether the service may have done what was asked, although it did not confirm it. */
export function mayBeDone(answer: NotAnswered): boolean {
  switch (answer.kind) {
    case 'failed':
    case 'silent':
      return true;
    case 'refused':
      // Refused before it was processed, whatever the code in the body: the gateway's own 429 has code 10.
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

/** Whether an answer says that one template cannot be shown, while the others of a list must be. */
export function refusesToShow(answer: BonusApiAnswer): boolean {
  if (saysMissing(answer)) return true;
  if (answer.kind !== 'refused' || answer.status === TOO_MANY_REQUESTS) return false;
  // A blocked caller is refused all templates: that is the answer, rather than an empty list.
  return answer.code !== CODES.blocked && !mayBeDone(answer);
}

/**
 * Whether an answer may mean that an id does not exist. How the service says so is not documented, so any
 * refusal counts, and a page instead of JSON.
 */
export function mayMeanMissing(answer: BonusApiAnswer): boolean {
  if (answer.kind === 'refused') return answer.status !== TOO_MANY_REQUESTS;
  if (answer.kind === 'failed') return answer.instead !== undefined;
  return answer.kind === 'unauthorized' && answer.status === 404;
}

/** Whether the service does not know the player, as for one who never had a bonus (code 2). */
export function saysNoPlayer(answer: BonusApiAnswer): boolean {
  if (answer.kind === 'failed') return answer.instead?.code === CODES.notFound;
  return answer.kind === 'refused' && (answer.status === 404 || answer.code === CODES.notFound);
}

/** Missing and malformed answers count against the service; a proper refusal never does. */
export function healthOfService(answer: BonusApiAnswer): Health {
  switch (answer.kind) {
    case 'answered':
    case 'refused':
    case 'unauthorized':
      return 'healthy';
    case 'failed':
      return answer.instead === undefined ? 'faulty' : 'healthy';
    case 'silent':
      return 'faulty';
    case 'notSent': {
      const isServices = answer.reason === 'connection' && answer.isOwnShortage !== true;
      return isServices ? 'faulty' : 'neutral';
    }
  }
  return unreachable(answer);
}

function judgeResponse(
  { status, body, retryAfter }: HttpResponse,
  method: BonusMethod,
): BonusApiAnswer {
  const document = jsonObjectIn(body);
  if (status === 200 && document !== undefined) return judgeSuccess(document, method);
  // Many servers answer this way when they have found nothing.
  if (status === 200 && isNothing(body)) {
    return { kind: 'failed', error: 'HTTP 200: nothing', instead: { code: undefined } };
  }
  if (status < 400 || status >= 500 || status === REQUEST_TIMEOUT) {
    const what = status === 200 ? 'its body is no JSON object' : 'no success';
    return { kind: 'failed', error: `HTTP ${status}: ${what}` };
  }
  const { message } = document?.value ?? {};
  const code = codeOf(document);
  // A proxy's or another server's 404 says nothing about a template or bonus.
  const isElsewhere = status === 404 && document === undefined;
  if (status === 401 || status === 403 || code === CODES.badSignature || isElsewhere) {
    return { kind: 'unauthorized', status, error: `HTTP ${status}, code ${code ?? '-'}` };
  }
  return {
    kind: 'refused',
    status,
    code,
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
  const code = codeOf(document);
  const error = `HTTP 200: no ${members.join(', no ')}, code ${code ?? '-'}`;
  return { kind: 'failed', error, instead: { code } };
}

/** Also one that comes as a text: taken for none, a service's "100" would pass for a definite no. */
function codeOf(document: JsonDocument | undefined): number | undefined {
  const code = document?.value.code;
  const number = typeof code === 'string' && /^\d{1,9}$/.test(code) ? Number(code) : code;
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined;
}

/** One second if the service gives no number: operators must wait in any case. */
function secondsOf(retryAfter: string | undefined): number {
  return /^[1-9]\d{0,5}$/.test(retryAfter ?? '') ? Number(retryAfter) : 1;
}
