import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Clock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { GatewayError } from '../domain/errors.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { CallbackEndpoint } from '../protocol/callback-endpoint.ts';
import type { Logger } from '../telemetry/logger.ts';
import { addressMatcher } from './address-matcher.ts';
import { arrivedAtMs, type EventLoopLag } from './arrival.ts';
import { Front, tooLong } from './front.ts';
import { Strangers } from './strangers.ts';
import { answerOn, passOverExpectations, refuseUnreadable } from './unreadable.ts';

const BODY_BYTES_MAX = 256 * 1024;

/** Longer than the load balancer in front keeps idle connections. */
const KEPT_ALIVE_MS = 65_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** On the injected monotonic clock; a callback's deadline counts from here. */
    arrivedAtMs: number;
    /**
     * Call it once the signature is verified: the connection counts as its owner's from then on.
     * @param operatorId the owner; undefined: the service
     */
    trust(operatorId?: string): void;
  }
}

export interface PublicServerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lag: EventLoopLag;
  /** CIDRs of the proxies in front, or false. */
  readonly trustProxy: () => readonly string[] | false;
  readonly maxConnections: () => number;
  /** Served without Fastify. Default: none. */
  readonly endpoints?: readonly CallbackEndpoint[];
  /** Called for a request to a path that is not there, once its body is read. */
  readonly onUnknownPath?: (request: FastifyRequest) => void;
  /** A request that is not complete after this long is answered 408. */
  readonly requestTimeoutMs: number;
  /** A connection without data in the middle of a request for this long is closed: its client does not read. */
  readonly silentMsMax: number;
}

/** The public listener, but for the routes on Fastify: raw bodies, arrival times, errors in one place. */
export function createPublicServer(options: PublicServerOptions): FastifyInstance {
  const isProxy = proxyMatcher(options.trustProxy);
  const strangers = new Strangers({ ...options, isProxy, bodyBytesMax: BODY_BYTES_MAX });
  const arrivalOf = arrivals(options, isProxy);
  const front = new Front({
    endpoints: options.endpoints ?? [],
    ...{ strangers, isProxy, arrivalOf },
    isDraining: () => !app.server.listening,
    bodyBytesMax: BODY_BYTES_MAX,
    answerTo: (error, { method, path: url }) => answerTo(options.logger, error, { method, url }),
  });
  const app: FastifyInstance = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: isProxy,
    serverFactory: (fastify) => {
      const server = serverOf(options, (request, response) =>
        front.take(request, response, fastify),
      );
      return server.on('connection', (socket: Socket) => strangers.opened(socket));
    },
    forceCloseConnections: 'idle',
    // While draining, open connections are served: Fastify's own 503 would cost a place its bet.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: false },
    // For a malformed path (`%zz`): it comes before any hook, and bypasses the error handler.
    frameworkErrors: (error, _request, reply) => sendFailure(reply, answerOf(error)),
    clientErrorHandler: refuseUnreadable,
  });
  // Signatures are over bytes: nobody may parse a body before it is verified.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.decorateRequest('trust', function trust(operatorId) {
    strangers.trust(this.raw, operatorId);
  });
  app.decorateRequest('arrivedAtMs', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.arrivedAtMs = arrivalOf(request.raw);
    // Bodies are JSON whatever their type: Fastify would refuse an unusual one with 415 before the signature.
    // Not deleted, because V8 then reads the object slowly.
    request.headers['content-type'] = undefined;
    done();
  });
  app.addHook('preParsing', ({ raw }, _reply, payload, done) => {
    // Synchronously, so that no data flows before the body's own reader listens too.
    payload.on('data', () => strangers.piece(raw));
    done(null, payload);
  });
  answerFailures(app, options);
  return app;
}

function serverOf({ requestTimeoutMs, silentMsMax }: PublicServerOptions, take: RequestListener) {
  const server = createServer(
    {
      // How often Node checks for late requests: slow bodies must not outlive the deadline.
      connectionsCheckingInterval: 100,
      requestTimeout: requestTimeoutMs,
      requireHostHeader: false,
      keepAliveTimeout: KEPT_ALIVE_MS,
    },
    take,
  );
  server.timeout = silentMsMax;
  passOverExpectations(server);
  serveHalfClosed(server);
  return server;
}

/** Tells when a request arrived; called before it is processed. */
function arrivals(
  { clock, lag }: PublicServerOptions,
  isProxy: (address: string | undefined) => boolean,
): (request: IncomingMessage) => number {
  return ({ headers, socket }) => {
    const start = headers['x-request-start'];
    const isTrusted = typeof start === 'string' && isProxy(socket.remoteAddress);
    return arrivedAtMs(clock, lag, isTrusted ? start : undefined);
  };
}

/** Answers errors and unknown paths in the protocol's form. */
function answerFailures(
  app: FastifyInstance,
  { logger, onUnknownPath }: PublicServerOptions,
): void {
  app.setErrorHandler((error, { method, routeOptions }, reply) => {
    // The route's pattern, because a query string may contain anything.
    const { url, bodyLimit } = routeOptions;
    sendFailure(reply, answerTo(logger, error, { method, url }, bodyLimit));
  });
  app.setNotFoundHandler((request, reply) => {
    onUnknownPath?.(request);
    sendFailure(reply, failure(CODES.notFound, 'No such endpoint', 404));
  });
}

/** The answer to what a route threw, which is logged if it is the gateway's fault. */
function answerTo(
  logger: Logger,
  error: unknown,
  route: { readonly method: string; readonly url: string | undefined },
  bodyBytesMax?: number,
): Answer {
  const answer = answerOf(error, bodyBytesMax);
  if (answer.status >= 500) logger.error({ err: error, ...route }, 'http.failed');
  return answer;
}

function sendFailure(reply: FastifyReply, answer: Answer): void {
  reply.code(answer.status).header('content-type', 'application/json').send(answer.body);
}

function answerOf(error: unknown, bodyBytesMax = BODY_BYTES_MAX): Answer {
  if (error instanceof GatewayError) return failure(CODES.system, 'System error', 503);
  const { code, statusCode = 500, message }: Partial<FastifyError> = Object(error);
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLong(bodyBytesMax);
  if (statusCode < 400 || statusCode >= 500) return failure(CODES.system, 'System error', 500);
  return failure(CODES.validation, `${message}`, statusCode);
}

/** Follows the configuration: the list is recompiled only if it is a different object. */
function proxyMatcher(
  trustProxy: PublicServerOptions['trustProxy'],
): (address: string | undefined) => boolean {
  let compiledFrom: readonly string[] | false | undefined;
  let matches: (address: string) => boolean = () => false;
  return (address) => {
    const cidrs = trustProxy();
    if (cidrs !== compiledFrom) {
      compiledFrom = cidrs;
      matches = cidrs === false ? () => false : addressMatcher(cidrs);
    }
    // A connection that was reset has no address.
    return address !== undefined && matches(address);
  };
}

/** What every answer begins with. It is sent early, a byte at a time. */
const START = 'HTTP/1.1 ';
/** A byte provokes a reset after a round trip, and the next byte finds it. */
const PAUSES_MS = [1, 4, 15, 50, 150, 400, 1_000, 2_000];

/**
 * Serves callers that end their side after the body and still read. TCP shows the same end for one that has
 * closed: so the answer is begun at once, and whoever has gone resets the connection (I11).
 */
function serveHalfClosed(server: Server): void {
  // Node would end our side too, before the answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connection', (socket: Socket) => socket.once('end', () => beginAnswer(socket)));
}

function beginAnswer(socket: Socket): void {
  const answer = answerOn(socket);
  if (answer === undefined || answer.headersSent) return;
  const write = socket.write.bind(socket);
  let sent = 0;
  const sendByte = () => {
    if (socket.destroyed || answer.headersSent || sent >= PAUSES_MS.length) return;
    write(START.charAt(sent), 'latin1');
    setTimeout(sendByte, PAUSES_MS[sent]).unref();
    sent += 1;
  };
  // The rest of the answer follows what is sent already.
  const writeRest = (data: Uint8Array | string, ...rest: unknown[]) => {
    socket.write = write;
    return Reflect.apply(write, socket, [data.slice(sent), ...rest]);
  };
  socket.write = writeRest;
  sendByte();
}
