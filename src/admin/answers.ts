import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Right } from '../domain/caller.ts';
import { CODES } from '../domain/codes.ts';
import { type Answer, failure } from '../protocol/answers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The right that the route requires; every route inside `/admin` names one. */
    right?: Right;
  }
  interface FastifyRequest {
    /** The authenticated caller; set by the guard of `/admin`. */
    caller: Caller | undefined;
  }
}

/** An answer with a JSON body; a success by default. */
export function json(value: unknown, status = 200): Answer {
  return { status, body: JSON.stringify(value) };
}

export function notFoundAnswer(what: string): Answer {
  return failure(CODES.notFound, what, 404);
}

/** The caller is authenticated, but its role lacks the right. */
export function mayNotAnswer({ role }: Pick<Caller, 'role'>): Answer {
  return failure(CODES.blocked, `The role ${role} may not do this`, 403);
}

/** The present state does not allow the request. */
export function conflict(why: string): Answer {
  return failure(CODES.alreadyProcessed, why, 409);
}

export function send(reply: FastifyReply, answer: Answer): void {
  reply
    .code(answer.status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(answer.body);
}

/**
 * Sends an answer that is read while it is sent. Nothing is read for HEAD: Fastify would read it to its end, as fast as
 * it can, and go on when the caller has left.
 */
export function sendPieces(
  { method }: Pick<FastifyRequest, 'method'>,
  reply: FastifyReply,
  pieces: () => AsyncIterable<string>,
): FastifyReply {
  return reply.send(Readable.from(method === 'HEAD' ? [] : pieces()));
}

type Method = 'GET' | 'POST';

/** Adds a route that needs no authentication. `story` returns the answer. */
export function serveAnybody(
  app: FastifyInstance,
  method: Method,
  url: string,
  story: (request: FastifyRequest) => Answer | Promise<Answer>,
): void {
  app.route({
    method,
    url,
    handler: async (request, reply) => {
      send(reply, await story(request));
      return reply;
    },
  });
}

/**
 * Adds a route of `/admin`. `story` returns the answer.
 * @param right the right a caller needs; `story` does not run for anybody else
 */
export function serve(
  app: FastifyInstance,
  method: Method,
  url: string,
  right: Right,
  story: (request: FastifyRequest, caller: Caller) => Answer | Promise<Answer>,
): void {
  app.route({
    method,
    url,
    config: { right },
    handler: async (request, reply) => {
      const { caller } = request;
      if (caller === undefined) throw new Error(`${method} ${url} was reached without its guard`);
      send(reply, await story(request, caller));
      return reply;
    },
  });
}
