import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, mayDo } from '../domain/caller.ts';
import { CODES } from '../domain/codes.ts';
import { failure } from '../protocol/answers.ts';
import { mayNotAnswer, send } from './answers.ts';

const BEARER = /^Bearer +(\S+)$/i;

/** The caller of a request, or why nobody known stands behind it. */
type Known = { readonly caller: Caller } | { readonly why: string };

/**
 * Puts a door before every route of this room, those that are not there included: nobody known is
 * answered 401, whoever may not 403 with code 9 (docs/contract.md, People).
 * @throws Error at the start, for a route that does not say what it asks of its caller
 */
export function guardRoutes(
  app: FastifyInstance,
  knownBy: (request: FastifyRequest) => Promise<Known>,
): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.right === undefined) {
      throw new Error(`${String(method)} ${url} does not say what it asks of its caller`);
    }
  });
  app.addHook('onRequest', async (request, reply): Promise<FastifyReply | undefined> => {
    const known = await knownBy(request);
    if (!('caller' in known)) {
      reply.header('www-authenticate', 'Bearer');
      send(reply, failure(CODES.badSignature, known.why, 401));
      return reply;
    }
    request.caller = known.caller;
    const { right } = request.routeOptions.config;
    if (right === undefined || mayDo(known.caller, right)) return undefined;
    send(reply, mayNotAnswer(known.caller));
    return reply;
  });
}

/** Who carries the static token of the environment: the way in when all else is broken. */
export function knownByToken(token: string) {
  const expected = digest(token);
  return async (request: FastifyRequest): Promise<Known> => {
    const given = BEARER.exec(request.headers.authorization ?? '')?.[1] ?? '';
    // Digests are of one length, so that the comparison takes the same time for every guess.
    return timingSafeEqual(digest(given), expected)
      ? { caller: { actor: 'token', role: 'admin', address: request.ip } }
      : { why: 'The bearer token is missing or wrong' };
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
