import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CODES } from '../../domain/codes.ts';
import { GatewayError } from '../../domain/errors.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { KeyedSemaphore } from '../../lib/keyed-semaphore.ts';
import { IssuerUnavailable } from '../../people/issuer.ts';
import { failure } from '../../protocol/answers.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { send } from '../answers.ts';
import { callerAddress } from './caller-address.ts';
import { cookieIn, dropCookie, LEFT_COOKIE, SESSION_COOKIE, setCookie } from './cookies.ts';
import { consoleOrigin, isFromOwnPage } from './origin.ts';
import { keepPending, takePending } from './pending-sign-ins.ts';
import { givenHash, newConsoleSecret, type People, secretHash } from './people.ts';
import {
  BY_TOKEN,
  LINK_FORM,
  LINK_SCRIPT,
  SIGN_IN_AGAIN,
  SIGN_IN_HEADERS,
  sendPage,
} from './sign-in-pages.ts';

const CALLBACK = '/console/callback';

/** Sessions of one address that are ended at a time. */
const CLOSED_AT_ONCE = 2;

/** Longer than issuers usually know a person. */
const LEFT_MS = 24 * 60 * 60 * 1000;

/** Sign-in and sign-out of the console. For browsers, so most answers are pages. */
export function signInRoutes(app: FastifyInstance, people: People, logger: Logger): void {
  app.register(async (room) => {
    room.addHook('onRequest', async (request, reply): Promise<FastifyReply | undefined> => {
      reply.headers(SIGN_IN_HEADERS);
      const waitMs = people.attempts.take(callerAddress(request));
      if (waitMs === 0) return undefined;
      reply.header('retry-after', Math.ceil(waitMs / 1000));
      send(reply, failure(CODES.timeout, 'Too many attempts to sign in: wait a little', 429));
      return reply;
    });
    room.setErrorHandler((error, _request, reply) => {
      // Anything else is for the handler of the whole listener.
      if (!(error instanceof GatewayError)) throw error;
      return sendPage(reply, 503, 'PostgreSQL does not answer', WITHOUT_POSTGRESQL, BY_TOKEN);
    });
    issuerRoutes(room, people, logger);
    linkRoutes(room, people, logger);
  });
  // Anybody can make cookies up, and operators' nonces wait for the same connections to PostgreSQL (I7).
  const closing = new KeyedSemaphore(CLOSED_AT_ONCE);
  app.post('/console/sign-out', async (request, reply) => {
    reply.headers(SIGN_IN_HEADERS);
    if (!isFromOwnPage(request, people.consoleUrl)) return refuseForeign(reply);
    const idHash = givenHash(cookieIn(request, SESSION_COOKIE));
    if (idHash !== undefined) {
      const end = await closing.take(callerAddress(request));
      await people.sessions.close(idHash).finally(end);
    }
    keepThatLeft(reply);
    return reply.header('set-cookie', dropCookie(SESSION_COOKIE)).code(204).send();
  });
}

function issuerRoutes(app: FastifyInstance, people: People, logger: Logger): void {
  const codeFlow = people.issuer?.codeFlow;
  const { consoleUrl } = people;

  // A HEAD request must not start a sign-in.
  const route = { exposeHeadRoute: false };
  app.get('/console/sign-in', route, async (request, reply) => {
    if (codeFlow === undefined) return sendPage(reply, 200, 'Sign in', ...BY_LINK);
    const to = z.object({ to: z.string() }).safeParse(request.query).data?.to ?? '';
    const redirectUri = `${consoleOrigin(request, consoleUrl)}${CALLBACK}`;
    const hasLeft = cookieIn(request, LEFT_COOKIE) !== undefined;
    const begun = await reached(codeFlow.begin(redirectUri, hasLeft), logger);
    if (begun === undefined) return issuerAway(reply);
    keepPending(request, reply, { ...begun.pending, to: ownPath(to) });
    return reply.redirect(begun.url, 302);
  });

  app.get(CALLBACK, route, async (request, reply) => {
    const { state } = z.object({ state: z.string() }).safeParse(request.query).data ?? {};
    const pending = takePending(request, reply, state);
    if (codeFlow === undefined || pending === undefined) {
      return sendPage(reply, 401, 'No sign-in was begun here', TOO_LATE, SIGN_IN_AGAIN);
    }
    const { to, ...flow } = pending;
    const url = `${consoleOrigin(request, consoleUrl)}${request.url}`;
    const finished = await reached(codeFlow.finish(url, flow), logger);
    if (finished === undefined) return issuerAway(reply);
    if (finished.kind === 'roleless' || finished.kind === 'denied') keepThatLeft(reply);
    // Also where the issuer cannot ask: the next sign-in does without.
    else reply.header('set-cookie', dropCookie(LEFT_COOKIE));
    switch (finished.kind) {
      case 'signed_in': {
        const secret = newConsoleSecret();
        await people.sessions.open(
          { idHash: secretHash(secret), address: callerAddress(request) },
          finished,
        );
        const welcomed = { ...finished, by: 'issuer', secret, to } as const;
        return welcome(reply, { ...people, logger }, request, welcomed);
      }
      case 'roleless':
        logger.warn({ actor: finished.actor, ip: callerAddress(request) }, 'people.without_role');
        return sendPage(reply, 403, 'You have no role here', WITHOUT_ROLE, SIGN_IN_AGAIN);
      case 'denied':
      case 'refused':
        logger.warn({ why: finished.why, ip: callerAddress(request) }, 'people.sign_in_refused');
        return sendPage(reply, 401, 'The sign-in failed', TOO_LATE, SIGN_IN_AGAIN);
      default:
        return unreachable(finished);
    }
  });
}

/** The link's secret is in the fragment (`#`), which browsers do not send; the page posts it. */
function linkRoutes(app: FastifyInstance, people: People, logger: Logger): void {
  app.get('/console/link', (_request, reply) => sendPage(reply, 200, 'Signing in', LINK_FORM));
  app.get('/console/link.js', (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(LINK_SCRIPT),
  );
  app.post('/console/link', async (request, reply) => {
    if (!isFromOwnPage(request, people.consoleUrl)) return refuseForeign(reply);
    const form = new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString() : '');
    const tokenHash = givenHash(form.get('token'));
    const secret = newConsoleSecret();
    const session = { idHash: secretHash(secret), address: callerAddress(request) };
    const signedIn = tokenHash && (await people.sessions.openByLink(tokenHash, session));
    if (signedIn === undefined) {
      logger.warn({ why: 'link', ip: callerAddress(request) }, 'people.sign_in_refused');
      return sendPage(reply, 401, 'This link is no longer valid', ...BY_LINK);
    }
    return welcome(reply, { ...people, logger }, request, { ...signedIn, secret, to: '/console' });
  });
}

interface Welcomed {
  readonly actor: string;
  readonly role: string;
  readonly by: 'issuer' | 'link';
  readonly secret: string;
  readonly to: string;
}

function welcome(
  reply: FastifyReply,
  { logger, sessionMsMax }: Pick<People, 'sessionMsMax'> & { readonly logger: Logger },
  request: FastifyRequest,
  { actor, role, by, secret, to }: Welcomed,
): FastifyReply {
  logger.info({ actor, role, by, ip: callerAddress(request) }, 'people.signed_in');
  reply.header('set-cookie', setCookie(SESSION_COOKIE, secret, sessionMsMax));
  return reply.redirect(ownPath(to), 303);
}

/** The issuer still knows the person and would sign the same one in again without a question. */
function keepThatLeft(reply: FastifyReply): void {
  reply.header('set-cookie', setCookie(LEFT_COOKIE, '1', LEFT_MS));
}

/** A path within the console; any other address becomes `/console`, so that it is no open redirect. */
function ownPath(to: string): string {
  const base = 'http://console.invalid';
  if (!URL.canParse(to, base)) return '/console';
  const { origin, pathname, search, hash } = new URL(to, base);
  const isOwn = origin === base && /^\/console(\/|$)/.test(pathname);
  return isOwn ? `${pathname}${search}${hash}` : '/console';
}

function refuseForeign(reply: FastifyReply): FastifyReply {
  send(reply, failure(CODES.blocked, "This request came from another site's page", 403));
  return reply;
}

/** The issuer's answer; undefined if it did not answer, which is logged. */
async function reached<T>(asked: Promise<T>, logger: Logger): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof IssuerUnavailable)) throw error;
    logger.warn({ err: error }, 'people.issuer_unavailable');
    return undefined;
  }
}

function issuerAway(reply: FastifyReply): FastifyReply {
  return sendPage(reply, 503, 'The issuer does not answer', AWAY, SIGN_IN_AGAIN);
}

const BY_LINK = [
  "Make a link for one sign-in within 60 seconds, on the gateway's machine:",
  '`wagergate console link` (in a clone: `npx wagergate console link`)',
];
const TOO_LATE =
  'It took longer than ten minutes, was begun in another browser, or the issuer did not confirm it.';
const WITHOUT_ROLE =
  'Your identity is confirmed, but the issuer gives you none of the roles viewer, support, finance, admin. If you have another account, sign in with that.';
const WITHOUT_POSTGRESQL =
  'Sign-ins are kept there, so that neither an account nor a link lets anybody in until it is back. The admin token does, where there is one: type it in the console.';
const AWAY =
  'The issuer that confirms your identity cannot be reached at present. Bearer tokens still work.';
