import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CODES } from '../domain/codes.ts';
import { Deadline } from '../domain/deadline.ts';
import { GatewayError } from '../domain/errors.ts';
import type { Operation } from '../domain/operation.ts';
import { unreachable } from '../domain/unreachable.ts';
import { storedMessage } from '../engine/stored-message.ts';
import type { StrangerLog } from '../lib/stranger-log.ts';
import { OutOfTime, within } from '../lib/within.ts';
import { failure } from '../protocol/answers.ts';
import {
  type Callback,
  type ParseResult,
  parseBalance,
  parseBet,
  parseProfile,
} from '../protocol/messages.ts';
import { type SigningKey, verify } from '../protocol/signature.ts';
import { refused, systemError, unavailable } from './answers.ts';
import { balance } from './balance.ts';
import { BetCallback } from './bet-callback.ts';
import type { Callbacks } from './context.ts';
import type { Handled } from './handled.ts';
import { answerWithoutJournal } from './known-place.ts';
import { placeBet } from './place-bet.ts';
import { profile } from './profile.ts';
import { rollback } from './rollback.ts';
import { settle } from './settle.ts';
import { unsettle } from './unsettle.ts';
import { update } from './update.ts';

/** What the routes need from the process, besides what the callbacks need. */
export interface CallbackEdge {
  /** The service's secrets, prepared; read anew for each request, because they rotate. */
  readonly serviceKeys: () => readonly SigningKey[];
  readonly isAllowed: (address: string) => boolean;
  readonly strangers: StrangerLog;
}

type Parse = (body: Buffer) => ParseResult<Callback>;

/** The callbacks from the service (docs/protocol.md, Callbacks; docs/contract.md, Callbacks). */
export function callbackRoutes(app: FastifyInstance, callbacks: Callbacks, edge: CallbackEdge) {
  const serve = (method: 'POST' | 'PUT', url: string, parse: Parse) =>
    app.route({
      method,
      url,
      onError: (request, _reply, error, done) => {
        noteTooLarge(callbacks, edge, request, error);
        done();
      },
      handler: (request, reply) => handle(callbacks, edge, parse, request, reply),
    });
  serve('POST', '/user/profile', parseProfile);
  serve('POST', '/user/balance', parseBalance);
  serve('POST', '/payment/bet', (body) => parseBet('POST', body));
  serve('PUT', '/payment/bet', (body) => parseBet('PUT', body));
}

/** One callback from its bytes to its answer: admitted, read, carried out, counted, logged. */
async function handle(
  callbacks: Callbacks,
  edge: CallbackEdge,
  parse: Parse,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { totalMs, reserveMs } = callbacks.configuration().gateway.deadline;
  const deadline = new Deadline(callbacks.clock, request.arrivedAtMs, totalMs, reserveMs);
  // Answered or hung up: from then on this request begins, promises and sends nothing (I11).
  reply.raw.once('close', () => deadline.end());
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);

  const unadmitted = admit(callbacks, edge, request, body);
  if (unadmitted !== undefined) {
    const leftOut = edge.strangers.next();
    const handled = { ...unadmitted, detail: { ...unadmitted.detail, leftOut } };
    return conclude(callbacks, request, reply, { handled, isLogged: leftOut !== undefined });
  }
  const parsed = parse(body);
  if (!parsed.ok) {
    const why = parsed.field === undefined ? parsed.why : `${parsed.field}: ${parsed.why}`;
    return conclude(callbacks, request, reply, {
      handled: refused(CODES.validation, why, undefined),
    });
  }
  const { message } = parsed;
  const handled = await traced(callbacks, request, message, () =>
    carryInTime(callbacks, message, body, deadline),
  );
  return conclude(callbacks, request, reply, { handled, message });
}

/** The listener answers a body that is too large, unread; it is a callback all the same. */
function noteTooLarge(
  callbacks: Callbacks,
  edge: CallbackEdge,
  request: FastifyRequest,
  error: FastifyError,
): void {
  if (error.code !== 'FST_ERR_CTP_BODY_TOO_LARGE') return;
  const leftOut = edge.strangers.next();
  const answer = failure(CODES.validation, error.message, 413);
  const detail = { reason: 'body_too_large', leftOut };
  note(callbacks, request, {
    handled: { answer, outcome: 'invalid', operatorId: undefined, detail },
    isLogged: leftOut !== undefined,
  });
}

/** Source address, then signature over the raw bytes, before anything is read from them. */
function admit(
  callbacks: Callbacks,
  edge: CallbackEdge,
  request: FastifyRequest,
  body: Buffer,
): Handled | undefined {
  if (!edge.isAllowed(request.ip)) {
    return {
      answer: failure(CODES.blocked, 'Source address not allowed', 403),
      outcome: 'unauthorized',
      operatorId: undefined,
    };
  }
  const verdict = verify(request.headers['x-sign-jws'], body, edge.serviceKeys());
  if (verdict.ok) {
    request.trust();
    return undefined;
  }
  callbacks.metrics.signatureFailures.inc({ caller: 'service' });
  // On PUT another status than 400, so that the service retries while a rotation settles.
  const status = request.method === 'PUT' ? 401 : 400;
  return {
    answer: failure(CODES.badSignature, 'Invalid signature', status),
    outcome: 'unauthorized',
    operatorId: undefined,
    detail: { reason: verdict.reason },
  };
}

/** The callback's span; only now, because unverified requests get none. */
function traced(
  callbacks: Callbacks,
  request: FastifyRequest,
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
      caller: request.headers,
      beganMsAgo: clock.monotonicMs() - request.arrivedAtMs,
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

/** Whatever happens inside, the answer leaves in time and is the safe one (I1, I2). */
async function carryInTime(
  callbacks: Callbacks,
  message: Callback,
  body: Buffer,
  deadline: Deadline,
): Promise<Handled> {
  try {
    return await within(deadline.lastMs(), carry(callbacks, message, body, deadline));
  } catch (error) {
    // Whatever goes on in the background must not act for a caller who has been answered.
    deadline.end();
    const expected = error instanceof OutOfTime || error instanceof GatewayError;
    const transactionId = transactionIdOf(message);
    callbacks.logger[expected ? 'warn' : 'error'](
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

interface Noted {
  readonly handled: Handled;
  readonly message?: Callback;
  /** Default: as all of its kind are. */
  readonly isLogged?: boolean;
}

/** Counts, logs one wide line, answers. */
function conclude(
  callbacks: Callbacks,
  request: FastifyRequest,
  reply: FastifyReply,
  result: Noted,
): void {
  note(callbacks, request, result);
  const { answer } = result.handled;
  reply
    .code(answer.status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(answer.body);
}

/** Once for each callback that is answered. */
function note(callbacks: Callbacks, request: FastifyRequest, result: Noted): void {
  const { handled, message } = result;
  const durationMs = callbacks.clock.monotonicMs() - request.arrivedAtMs;
  const operator = handled.operatorId ?? 'unknown';
  const operation = message?.operation ?? operationOfRoute(request);
  callbacks.metrics.callbacks.inc({ operator, operation, outcome: handled.outcome });
  callbacks.metrics.callbackDuration.observe({ operator, operation }, durationMs / 1000);
  const isGoodRead =
    handled.outcome === 'accepted' && (operation === 'profile' || operation === 'balance');
  if (result.isLogged ?? (!isGoodRead || callbacks.logsRead())) {
    logLine(callbacks, { operator, operation, durationMs }, result);
  }
}

/** The one wide line of a callback. */
function logLine(
  callbacks: Callbacks,
  facts: { readonly operator: string; readonly operation: Operation; readonly durationMs: number },
  { handled, message }: Noted,
): void {
  const { operator, operation, durationMs } = facts;
  callbacks.logger.info(
    {
      operator,
      operation,
      outcome: handled.outcome,
      status: handled.answer.status,
      durationMs: Math.round(durationMs * 10) / 10,
      transactionId: message && transactionIdOf(message),
      requestId: message?.requestId,
      ...handled.detail,
    },
    'callback.handled',
  );
}

/** Of a bet; undefined for a profile or balance. */
function transactionIdOf(message: Callback): string | undefined {
  return 'transactionId' in message ? message.transactionId : undefined;
}

/** The best name for a callback whose body could not be read. */
function operationOfRoute(request: FastifyRequest): Operation {
  switch (request.routeOptions.url) {
    case '/user/profile':
      return 'profile';
    case '/user/balance':
      return 'balance';
    default:
      return request.method === 'POST' ? 'place' : 'settle';
  }
}
