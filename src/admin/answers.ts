import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CODES } from '../domain/codes.ts';
import { type Answer, failure } from '../protocol/answers.ts';

/** A success, or any other answer with a body of its own. */
export function json(value: unknown, status = 200): Answer {
  return { status, body: JSON.stringify(value) };
}

export function notFoundAnswer(what: string): Answer {
  return failure(CODES.notFound, what, 404);
}

/** The state of things forbids it. */
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

/** Adds a route whose story ends in an answer. */
export function serve(
  app: FastifyInstance,
  method: 'GET' | 'POST',
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
