import type { Server } from 'node:http';
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
import type { Logger } from '../telemetry/logger.ts';
import { addressMatcher } from './address-matcher.ts';
import { arrivedAtMs, type EventLoopLag } from './arrival.ts';
import { Strangers } from './strangers.ts';
import { answerOn, passOverExpectations, refuseHostless, refuseUnreadable } from './unreadable.ts';

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
  /** Called for a request to a path that is not there, once its body is read. */
  readonly onUnknownPath?: (request: FastifyRequest) => void;
  /** A request that is not complete after this long is answered 408. */
  readonly requestTimeoutMs: number;
  /** A connection without data in the middle of a request for this long is closed: its client does not read. */
  readonly silentMsMax: number;
}

/** The public listener without its routes: raw bodies, arrival times, errors in one place. */
export function createPublicServer(options: PublicServerOptions): FastifyInstance {
  const isProxy = proxyMatcher(options.trustProxy);
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: (address?: string) => address !== undefined && isProxy(address),
    requestTimeout: options.requestTimeoutMs,
    http: httpOptions(options),
    keepAliveTimeout: KEPT_ALIVE_MS,
    connectionTimeout: options.silentMsMax,
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
  const strangers = new Strangers(app, { ...options, isProxy, bodyBytesMax: BODY_BYTES_MAX });
  app.decorateRequest('trust', function trust(operatorId) {
    strangers.trust(this, operatorId);
  });
  stampArrivals(app, options, isProxy);
  app.addHook('onRequest', refuseHostless);
  passOverExpectations(app.server);
  serveHalfClosed(app.server);
  answerFailures(app, options);
  return app;
}

function httpOptions({ requestTimeoutMs }: PublicServerOptions) {
  return {
    // How often Node checks for late requests: slow bodies must not outlive the deadline.
    connectionsCheckingInterval: 100,
    // Set here too: set only afterwards, it would be shorter than Node's limit for headers, and not apply.
    requestTimeout: requestTimeoutMs,
    requireHostHeader: false,
  };
}

/** Records when each request arrived, before it is processed. */
function stampArrivals(
  app: FastifyInstance,
  { clock, lag }: PublicServerOptions,
  isProxy: (address: string) => boolean,
): void {
  app.decorateRequest('arrivedAtMs', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    const start = request.headers['x-request-start'];
    // A connection that was reset in the meantime has no address any more.
    const from = request.socket.remoteAddress;
    const trusted = typeof start === 'string' && from !== undefined && isProxy(from);
    request.arrivedAtMs = arrivedAtMs(clock, lag, trusted ? start : undefined);
    // Bodies are JSON whatever their type: Fastify would refuse an unusual one with 415 before the signature.
    // Not deleted, because V8 then reads the object slowly.
    request.headers['content-type'] = undefined;
    done();
  });
}

/** Answers errors and unknown paths in the protocol's form. */
function answerFailures(
  app: FastifyInstance,
  { logger, onUnknownPath }: PublicServerOptions,
): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const answer = answerOf(error, request.routeOptions.bodyLimit);
    if (answer.status >= 500) {
      // The route's pattern, because a query string may contain anything.
      const { url } = request.routeOptions;
      logger.error({ err: error, method: request.method, url }, 'http.failed');
    }
    sendFailure(reply, answer);
  });
  app.setNotFoundHandler((request, reply) => {
    onUnknownPath?.(request);
    sendFailure(reply, failure(CODES.notFound, 'No such endpoint', 404));
  });
}

function sendFailure(reply: FastifyReply, answer: Answer): void {
  reply.code(answer.status).header('content-type', 'application/json').send(answer.body);
}

function answerOf(error: FastifyError, bodyBytesMax = BODY_BYTES_MAX): Answer {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return failure(CODES.validation, `The body is over ${bodyBytesMax} bytes`, 413);
  }
  if (error instanceof GatewayError) return failure(CODES.system, 'System error', 503);
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return failure(CODES.validation, error.message, status);
  return failure(CODES.system, 'System error', 500);
}

/** Follows the configuration: the list is recompiled only if it is a different object. */
function proxyMatcher(trustProxy: PublicServerOptions['trustProxy']): (address: string) => boolean {
  let compiledFrom: readonly string[] | false | undefined;
  let matches: (address: string) => boolean = () => false;
  return (address) => {
    const cidrs = trustProxy();
    if (cidrs !== compiledFrom) {
      compiledFrom = cidrs;
      matches = cidrs === false ? () => false : addressMatcher(cidrs);
    }
    return matches(address);
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
