import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { z } from 'zod';
import { PERSON_ROLES, rightsOf } from '../domain/caller.ts';
import type { Clock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { GatewayError } from '../domain/errors.ts';
import { addressMatcher } from '../http/address-matcher.ts';
import { passOverExpectations, refuseHostless, refuseUnreadable } from '../http/unreadable.ts';
import { StrangerLog } from '../lib/stranger-log.ts';
import { openApiDocument } from '../openapi/document.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { Logger } from '../telemetry/logger.ts';
import { authenticator } from './access/authentication.ts';
import { consoleOrigin } from './access/origin.ts';
import { newConsoleSecret, type People, secretHash } from './access/people.ts';
import { guardRoutes } from './access/route-guard.ts';
import { signInRoutes } from './access/sign-in.ts';
import { json, notFoundAnswer, send, serve } from './answers.ts';
import { type AuditDependencies, auditRoutes } from './audit.ts';
import { type BetDependencies, betRoutes } from './bets.ts';
import { type BooksDependencies, booksRoutes } from './books.ts';
import { type ConfigurationDependencies, configurationRoutes } from './configuration.ts';
import { consoleRoutes } from './console.ts';
import type { ConsoleFiles } from './console-files.ts';
import { type Deliveries, deliveryRoutes } from './deliveries.ts';
import { docsRoutes } from './docs/docs.ts';
import { checkedBody, wordAmong } from './input.ts';
import { type CertificateDependencies, certificateRoutes } from './operators/certificates.ts';
import { type OperatorPages, operatorPageRoute } from './operators/operator-page.ts';
import { operatorAdminRoutes } from './operators/operators.ts';
import { type Probes, probeRoutes } from './operators/probes.ts';
import { type TemplateDependencies, templateRoutes } from './operators/templates.ts';
import { type PlayerRoutes, playerRoutes } from './players.ts';
import { type ReconciliationDependencies, reconciliationRoutes } from './reconciliations.ts';
import { breakOffSlow, LONG_REQUEST_MS } from './slow-requests.ts';
import { UnderWay } from './under-way.ts';

const BODY_BYTES_MAX = 64 * 1024;
/** Time limits for the head of a request, and for an idle connection. */
const HEADERS_MS = 5_000;
const IDLE_MS = 65_000;
/** A transactionId of 64 characters, each percent-encoded. */
const PATH_PART_LENGTH_MAX = 64 * 9;

export type AdminOptions = Probes &
  OperatorPages &
  BetDependencies &
  AuditDependencies &
  PlayerRoutes &
  BooksDependencies &
  CertificateDependencies &
  ConfigurationDependencies &
  TemplateDependencies &
  ReconciliationDependencies &
  Deliveries & {
    readonly clock: Clock;
    readonly logger: Logger;
    /** Without an admin token and an issuer there is no admin API, and no console. */
    readonly people: People;
    /** The built pages of the console. */
    readonly consoleFiles: ConsoleFiles;
    /** Host names it answers under, besides IP addresses and internal names (`hostCheck`). */
    readonly adminHosts?: readonly string[];
    /** CIDRs of the proxies whose `X-Forwarded-For` names the caller; default: none. */
    readonly trustProxy?: readonly string[];
  };

/** The internal listener, not yet listening (docs/reference.md, Internal API). */
export function createAdminServer(options: AdminOptions): FastifyInstance {
  const isProxy = addressMatcher(options.trustProxy ?? []);
  const app = Fastify({
    logger: false,
    trustProxy: (address?: string) => address !== undefined && isProxy(address),
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: LONG_REQUEST_MS,
    http: {
      // How often Node checks for late requests; its default lets headers take half a minute longer.
      connectionsCheckingInterval: 500,
      requestTimeout: LONG_REQUEST_MS,
      headersTimeout: HEADERS_MS,
      requireHostHeader: false,
    },
    keepAliveTimeout: IDLE_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: PATH_PART_LENGTH_MAX },
    // For a malformed path (`%zz`): it comes before any hook, and bypasses the error handler.
    frameworkErrors: (error, _request, reply) => send(reply, answerOf(error)),
    // Before a request begins: Fastify's own answer has no code.
    clientErrorHandler: refuseUnreadable,
  });
  app.decorateRequest('caller', undefined);
  app.decorate('guardedRoutes', []);
  app.decorate('underWay', new UnderWay());
  breakOffSlow(app);
  refuseWhileClosing(app);
  app.addHook('onRequest', refuseHostless);
  passOverExpectations(app.server);
  app.addHook('onRequest', hostCheck(options.adminHosts));
  // Any content type is read as JSON: `curl -d` declares a form.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const answer = answerOf(error);
    // A client that disconnects during a long answer is not an error of ours.
    if (answer.status >= 500 && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') {
      options.logger.error(
        { err: error, method: request.method, url: loggedPath(request) },
        'admin.failed',
      );
    }
    send(reply, answer);
  });
  app.setNotFoundHandler((_request, reply) => send(reply, notFoundAnswer('No such endpoint')));

  probeRoutes(app, options);
  docsRoutes(app, openApiDocument);
  const { people, logger } = options;
  if (people.adminToken !== undefined || people.issuer !== undefined) {
    signInRoutes(app, people, logger);
    consoleRoutes(app, options.consoleFiles);
    app.register(async (admin) => adminRoutes(admin, options), { prefix: '/admin' });
  }
  return app;
}

/** A plugin of its own, so that no path in it, with a route or without, can bypass the guard. */
function adminRoutes(app: FastifyInstance, options: AdminOptions): void {
  const { people, logger } = options;
  const unverified = new StrangerLog(options.clock);
  guardRoutes(app, authenticator(people, logger, unverified));
  const strangers = new StrangerLog(options.clock);
  app.addHook('onResponse', async (request, reply) => {
    const { method, ip, caller } = request;
    const leftOut = caller === undefined ? strangers.next() : 0;
    if (leftOut === undefined) return;
    const url = loggedPath(request);
    const durationMs = Math.round(reply.elapsedTime);
    const { statusCode: status } = reply;
    const who = caller === undefined ? { leftOut } : { actor: caller.actor };
    logger.info({ method, url, ip, ...who, status, durationMs }, 'admin.handled');
  });
  app.setNotFoundHandler((_request, reply) => send(reply, notFoundAnswer('No such endpoint')));
  operatorAdminRoutes(app, options);
  operatorPageRoute(app, options);
  certificateRoutes(app, options);
  betRoutes(app, options);
  booksRoutes(app, options);
  templateRoutes(app, options);
  reconciliationRoutes(app, options);
  deliveryRoutes(app, options);
  auditRoutes(app, options);
  playerRoutes(app, options);
  peopleRoutes(app, people);
  // Without an admin token nobody can compare fingerprints, so the key is random.
  configurationRoutes(app, options, people.adminToken ?? randomBytes(32).toString('hex'));
}

/** The path without its query; for a player's page only the route. Of an unknown path only the beginning. */
function loggedPath({ url, routeOptions: { url: route } }: FastifyRequest): string {
  const [path = ''] = url.split('?', 1);
  if (route !== undefined) return route.includes('/:userId') ? route : path;
  const [beginning = ''] = /^\/admin(?:\/[a-z]*)?/.exec(path) ?? [];
  return beginning === path ? path : `${beginning}…`;
}

function answerOf(error: FastifyError): Answer {
  if (error instanceof GatewayError) {
    return failure(CODES.system, 'PostgreSQL is not available', 503);
  }
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return failure(CODES.validation, error.message, status);
  return failure(CODES.system, 'System error', 500);
}

/** Names that nobody on the internet can own: without a dot, or of the cluster or the LAN. */
const INTERNAL_NAME = /^[a-z0-9_-]+$|\.(?:localhost|local|internal|svc|cluster\.local)$/;

/**
 * Refuses requests whose `Host` is a name that somebody else may own (DNS rebinding).
 * @param names also accepted: the listener's internal names (`ADMIN_HOSTS`)
 */
function hostCheck(names: readonly string[] = []) {
  // A name pasted from a browser has a scheme and a port.
  const own = new Set(names.map((name) => nameIn(name.replace(/^https?:\/\/|\/.*$/gi, ''))));
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply | undefined> => {
    const name = nameIn(request.headers.host ?? '');
    if (name === '' || isIP(name) !== 0 || INTERNAL_NAME.test(name) || own.has(name)) {
      return undefined;
    }
    const why = 'This listener does not answer under that name; add it to ADMIN_HOSTS';
    send(reply, failure(CODES.blocked, why, 421));
    return reply;
  };
}

/** Without port, brackets and the dot at the end of a whole name. */
function nameIn(host: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  const name = (bracketed ?? (plain === '' ? host : plain)).toLowerCase();
  // `ai.` is the top-level domain, which somebody owns; `ai` is not.
  return /[^.]\.[^.]+\.$|^localhost\.$/.test(name) ? name.slice(0, -1) : name;
}

/** docs/reference.md, People. */
const LINK_MS = 60_000;

const linkBody = z.strictObject({ role: wordAmong(PERSON_ROLES).default('admin') });

/** Who the caller is, and links that sign a browser in as the caller, in any role. */
function peopleRoutes(
  app: FastifyInstance,
  { sessions, consoleUrl }: Pick<People, 'sessions' | 'consoleUrl'>,
): void {
  serve(app, 'GET', '/me', 'read', (_request, { actor, role }) =>
    json({ actor, role, rights: rightsOf(role) }),
  );

  serve(app, 'POST', '/console/links', 'administer', async (request, { actor }) => {
    const input = checkedBody(linkBody, request);
    if (!('fields' in input)) return input;
    const { role } = input.fields;
    const secret = newConsoleSecret();
    const expiresAt = await sessions.makeLink(secretHash(secret), { actor, role }, LINK_MS);
    const url = `${consoleOrigin(request, consoleUrl)}/console/link#${secret}`;
    return json({ url, role, expiresAt: expiresAt.toISOString() }, 201);
  });
}

/** While the listener closes, only health is answered. Requires `return503OnClosing: false`. */
function refuseWhileClosing(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onRequest', async (request, reply): Promise<FastifyReply | undefined> => {
    if (!isClosing || request.url.startsWith('/health/')) return undefined;
    send(reply, failure(CODES.system, 'This process is ending: nothing was done', 503));
    return reply;
  });
}
