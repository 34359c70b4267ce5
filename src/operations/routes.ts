import type { FastifyRequest } from 'fastify';
import { CODES } from '../domain/codes.ts';
import { Deadline } from '../domain/deadline.ts';
import { GatewayError } from '../domain/errors.ts';
import type { Operation } from '../domain/operation.ts';
import { unreachable } from '../domain/unreachable.ts';
import { plain } from '../lib/plain-text.ts';
import type { StrangerLog } from '../lib/stranger-log.ts';
import { TokenBuckets } from '../lib/token-bucket.ts';
import { OutOfTime, within } from '../lib/within.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { CallbackEndpoint, IncomingCallback } from '../protocol/callback-endpoint.ts';
import { jsonString } from '../protocol/json.ts';
import {
  type BetRequest,
  type Callback,
  type ParseResult,
  parseBalance,
  parseBet,
  parseProfile,
} from '../protocol/messages.ts';
import { type SigningKey, verify } from '../protocol/signature.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { type Handled, refused, systemError, unavailable } from './answers.ts';
import { balance } from './balance.ts';
import { BetCallback } from './bet-callback.ts';
import { type CountedCallback, countAndLog, transactionIdOf } from './callback-log.ts';
import type { Callbacks } from './callbacks.ts';
import { placeBet } from './place.ts';
import { profile } from './profile.ts';
import { answerWithoutJournal } from './remembered-answer.ts';
import { rollback } from './rollback.ts';
import { settle } from './settle.ts';
import { unsettle } from './unsettle.ts';
import { update } from './update.ts';

export interface CallbackEdge {
  /** The service's prepared secrets; read for each request, because they rotate. */
  readonly serviceKeys: () => readonly SigningKey[];
  readonly isAllowed: (address: string) => boolean;
  readonly strangers: StrangerLog;
}

/** The longest IPv6 address: IPv4-mapped, in brackets, with a port. */
const ADDRESS_CHARACTERS_MAX = 53;

/** Log lines about requests to unknown paths. */
const PATH_LINES = { perSecond: 1 / 60, burst: 1 };
const PATH_CHARACTERS_MAX = 200;

interface Route {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  /** How a callback is counted whose body is not read. */
  readonly name: Operation;
  readonly parse: (body: Buffer) => ParseResult<Callback>;
}

const ROUTES: readonly Route[] = [
  { method: 'POST', path: '/user/profile', name: 'profile', parse: parseProfile },
  { method: 'POST', path: '/user/balance', name: 'balance', parse: parseBalance },
  { method: 'POST', path: '/payment/bet', name: 'place', parse: (body) => parseBet('POST', body) },
  { method: 'PUT', path: '/payment/bet', name: 'settle', parse: (body) => parseBet('PUT', body) },
];

/** The callbacks from the service (service protocol, Callbacks; docs/reference.md, Callbacks). */
export function callbackEndpoints(
  callbacks: Callbacks,
  edge: CallbackEdge,
): readonly CallbackEndpoint[] {
  return ROUTES.map((route) => ({
    method: route.method,
    path: route.path,
    answer: (callback) => handle(callbacks, edge, route, callback),
    noteTooLong: (arrivedAtMs, refusal) => {
      // Not `invalid`: anybody could trigger the alert WagergateCallbacksFail without a signature.
      const handled = unverified(refusal, { reason: 'body_too_large' });
      answerStranger(callbacks, edge, { arrivedAtMs, operation: route.name, handled });
    },
  }));
}

/** One callback: authenticated, parsed, executed, counted, logged, answered. */
async function handle(
  callbacks: Callbacks,
  edge: CallbackEdge,
  route: Route,
  callback: IncomingCallback,
): Promise<Answer> {
  const { arrivedAtMs, body } = callback;
  const { totalMs, reserveMs } = callbacks.configuration().gateway.deadline;
  const deadline = new Deadline(callbacks.clock, arrivedAtMs, totalMs, reserveMs);
  // Once answered or hung up, this callback begins, promises and sends nothing (I11).
  callback.whenClosed(() => deadline.end());

  const unread = { arrivedAtMs, operation: route.name };
  const unadmitted = admit(callbacks, edge, route, callback);
  if (unadmitted !== undefined) {
    return answerStranger(callbacks, edge, { ...unread, handled: unadmitted });
  }
  const parsed = route.parse(body);
  if (!parsed.ok) {
    const why = parsed.field === undefined ? parsed.why : `${parsed.field}: ${parsed.why}`;
    return countAndLog(callbacks, {
      ...unread,
      handled: refused(CODES.validation, why, undefined),
    });
  }
  const { message } = parsed;
  const { operation } = message;
  const handled = await traced(callbacks, callback, message, () =>
    carryInTime(callbacks, message, body, deadline),
  );
  return countAndLog(callbacks, { arrivedAtMs, operation, handled, message });
}

/** Checks the source address, then the signature over the raw bytes, before parsing anything. */
function admit(
  callbacks: Callbacks,
  { isAllowed, serviceKeys }: CallbackEdge,
  { method }: Route,
  { ip, headers, body, trust }: IncomingCallback,
): Handled | undefined {
  if (!isAllowed(ip ?? '')) {
    // Unverified, it may be any text from a proxy.
    const detail = { ip: ip?.slice(0, ADDRESS_CHARACTERS_MAX) };
    return unverified(failure(CODES.blocked, 'Source address not allowed', 403), detail);
  }
  const verdict = verify(headers['x-sign-jws'], body, serviceKeys());
  if (verdict.ok) {
    trust();
    return undefined;
  }
  callbacks.metrics.signatureFailures.inc({ caller: 'service' });
  // Not 400 on PUT, so that the service retries while a rotation settles.
  const status = method === 'PUT' ? 401 : 400;
  const answer = failure(CODES.badSignature, 'Invalid signature', status);
  return unverified(answer, { reason: verdict.reason });
}

function unverified(answer: Answer, detail: NonNullable<Handled['detail']>): Handled {
  return { answer, outcome: 'unauthorized', operatorId: undefined, detail };
}

/** Anybody can send any number of them: all are counted, and a few logged. */
function answerStranger(
  callbacks: Callbacks,
  { strangers }: CallbackEdge,
  { handled, ...callback }: CountedCallback,
): Answer {
  const leftOut = strangers.next();
  const detail = { ...handled.detail, leftOut };
  const isLogged = leftOut !== undefined;
  return countAndLog(callbacks, { ...callback, handled: { ...handled, detail }, isLogged });
}

/** Handles a callback within a span; unverified requests get none. */
function traced(
  callbacks: Callbacks,
  { headers, arrivedAtMs }: IncomingCallback,
  message: Callback,
  work: () => Promise<Handled>,
): Promise<Handled> {
  const { tracing, clock } = callbacks;
  if (!tracing.isOn) return work();
  const { operation, requestId } = message;
  const transactionId = transactionIdOf(message);
  return tracing.span(
    {
      name: `callback ${operation}`,
      kind: 'server',
      facts: { operation, transactionId, requestId },
      caller: headers,
      beganMsAgo: clock.monotonicMs() - arrivedAtMs,
    },
    async (span) => {
      const handled = await work();
      const { outcome, operatorId: operator, answer } = handled;
      span.set({ operator, outcome, status: answer.status });
      if (outcome === 'error' || outcome === 'unknown') span.fail(outcome);
      return { ...handled, detail: { ...handled.detail, traceId: span.traceId } };
    },
  );
}

/** Always answers in time; with the safe answer if there is no other (I1, I2). */
async function carryInTime(
  callbacks: Callbacks,
  message: Callback,
  body: Buffer,
  deadline: Deadline,
): Promise<Handled> {
  try {
    return await within(deadline.lastMs(), carry(callbacks, message, body, deadline));
  } catch (error) {
    // Work that continues in the background must not act for an answered caller.
    deadline.end();
    const isExpected = error instanceof OutOfTime || error instanceof GatewayError;
    const transactionId = transactionIdOf(message);
    callbacks.logger[isExpected ? 'warn' : 'error'](
      { err: error, operation: message.operation, transactionId },
      'callback.failed',
    );
    return message.operation === 'place'
      ? systemError('error', undefined)
      : unavailable('error', undefined);
  }
}

async function carry(
  callbacks: Callbacks,
  message: Callback,
  body: Buffer,
  deadline: Deadline,
): Promise<Handled> {
  if (message.operation === 'profile') return await profile(callbacks, message, deadline);
  if (message.operation === 'balance') return await balance(callbacks, message, deadline);
  const stored = storedMessage(callbacks.sessions, message, body);
  switch (message.operation) {
    case 'place':
      try {
        return await placeBet({ callbacks, message, stored, deadline });
      } catch (error) {
        return await answerWithoutJournal(callbacks, message, error);
      }
    case 'settle':
      return await settle(new BetCallback(callbacks, message, stored, deadline));
    case 'unsettle':
      return await unsettle(new BetCallback(callbacks, message, stored, deadline));
    case 'rollback':
      return await rollback(new BetCallback(callbacks, message, stored, deadline));
    case 'update':
      return await update(new BetCallback(callbacks, message, stored, deadline));
    default:
      return unreachable(message);
  }
}

/** A message for the journal: as the service sent it, but with only the hash of its token. */
export function storedMessage(sessions: Sessions, message: BetRequest, raw: Buffer): Buffer {
  const { document } = message;
  const { token } = document.value;
  if (token === undefined || token === null) return raw;
  // An invalid one, in a rollback or update, may still hold a token.
  const text = typeof token === 'string' ? token : JSON.stringify(token);
  return Buffer.from(document.replace({ token: jsonString(sessions.referenceOf(text)) }));
}

/**
 * Records the service's requests to unknown paths: its address of the gateway is wrong, and no other metric shows that.
 * The signature is verified first, so that strangers write neither lines nor labels.
 */
export function unknownPaths(
  { metrics, logger, clock }: Callbacks,
  { isAllowed, serviceKeys }: CallbackEdge,
): (request: FastifyRequest) => void {
  const lines = new TokenBuckets(clock, PATH_LINES);
  return (request) => {
    const signature = request.headers['x-sign-jws'];
    if (signature === undefined || !isAllowed(request.ip)) return;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    if (!verify(signature, body, serviceKeys()).ok) return;
    request.trust();
    metrics.rejected.inc({ operator: 'unknown', reason: 'path' });
    if (lines.take('path') > 0) return;
    const { method, url } = request;
    logger.warn({ method, path: shown(url) }, 'callback.path_unknown');
  };
}

function shown(url: string): string {
  const [path = ''] = url.split('?');
  return plain(
    path.length <= PATH_CHARACTERS_MAX ? path : `${path.slice(0, PATH_CHARACTERS_MAX)}…`,
  );
}
