import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mayDo, type Right } from '../../domain/caller.ts';
import { CODES } from '../../domain/codes.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { type Answer, failure } from '../../protocol/answers.ts';
import { mayNotAnswer, send } from '../answers.ts';
import type { Authentication } from './authentication.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Every guarded route, with the right it requires. */
    guardedRoutes: GuardedRoute[];
  }
}

interface GuardedRoute {
  readonly method: string;
  readonly url: string;
  readonly right: Right;
}

/**
 * Guards every route of this plugin, also paths that do not exist: 401 unauthenticated, 403 without the right.
 * @throws Error at start-up, for a route that does not name the right it requires
 */
export function guardRoutes(
  app: FastifyInstance,
  authenticate: (request: FastifyRequest) => Promise<Authentication>,
): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.right === undefined) {
      throw new Error(`${String(method)} ${url} does not say what it asks of its caller`);
    }
    app.guardedRoutes.push({ method: String(method), url, right: config.right });
  });
  app.addHook('onRequest', async (request, reply): Promise<FastifyReply | undefined> => {
    const authentication = await authenticate(request);
    const refusal = refusalOf(authentication, request.routeOptions.config.right);
    if (authentication.kind === 'authenticated') request.caller = authentication.caller;
    if (refusal === undefined) return undefined;
    if (refusal.status === 401) reply.header('www-authenticate', 'Bearer');
    send(reply, refusal);
    return reply;
  });
}

/** @param right undefined for a path without a route: every authenticated caller gets its 404 */
function refusalOf(authentication: Authentication, right: Right | undefined): Answer | undefined {
  switch (authentication.kind) {
    case 'unauthenticated':
      return failure(CODES.badSignature, authentication.why, 401);
    case 'forbidden':
      return failure(CODES.blocked, authentication.why, 403);
    case 'authenticated':
      if (right === undefined || mayDo(authentication.caller, right)) return undefined;
      return mayNotAnswer(authentication.caller);
    default:
      return unreachable(authentication);
  }
}
