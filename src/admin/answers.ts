import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Right } from '../domain/caller.ts';
import { CODES } from '../domain/codes.ts';
import { inTurn } from '../lib/in-turn.ts';
import { KeyedSemaphore } from '../lib/keyed-semaphore.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { UnderWay } from './under-way.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The requests of known callers that are being answered. */
    underWay: UnderWay;
  }
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

type Method = 'GET' | 'POST';

/** The most answers, or pieces of long ones, that are made at a time for one caller at one address (I7). */
const READS_AT_ONCE = 8;
const reads = new KeyedSemaphore(READS_AT_ONCE);
const takeRead = ({ actor, address }: Caller) => reads.take(`${actor} ${address}`);

/** An answer that is made while it is sent, each piece in a turn. Nothing is made for HEAD. */
export function piecesFor(
  request: FastifyRequest,
  take: () => Promise<() => void>,
  pieces: () => AsyncIterable<string>,
): Readable {
  if (request.method === 'HEAD') return Readable.from([]);
  return Readable.from(inTurn(take, pieces, () => hasLeft(request)));
}

/** Sends such an answer to an authenticated caller. */
export function sendPieces(
  request: FastifyRequest,
  reply: FastifyReply,
  pieces: () => AsyncIterable<string>,
): FastifyReply {
  const caller = callerOf(request);
  return reply.send(piecesFor(request, () => takeRead(caller), pieces));
}

/** Reads what an answer is made of in a turn; undefined also if the caller has left while it waited. */
export async function readInTurn<T>(
  request: FastifyRequest,
  read: () => Promise<T>,
): Promise<T | undefined> {
  const end = await takeRead(callerOf(request));
  try {
    return hasLeft(request) ? undefined : await read();
  } finally {
    end();
  }
}

function callerOf({ caller, method, url }: FastifyRequest): Caller {
  if (caller === undefined) throw new Error(`${method} ${url} was reached without its guard`);
  return caller;
}

/** Not the answer is looked at: of several that wait on one connection, only the first is known to be closed. */
function hasLeft({ socket }: FastifyRequest): boolean {
  return socket.destroyed;
}

/** Adds a route that needs no authentication. `story` returns the answer. */
export function serveAnybody(
  app: FastifyInstance,
  url: string,
  story: () => Answer | Promise<Answer>,
): void {
  app.get(url, async (_request, reply) => {
    send(reply, await story());
    return reply;
  });
}

const NOT_LIMITED = () => undefined;

/** Adds a route of `/admin`. `story` returns the answer, and runs only for callers with `right`. */
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
      const caller = callerOf(request);
      // A change may take long, and nobody makes hundreds at once.
      const end = method === 'GET' ? await takeRead(caller) : NOT_LIMITED;
      try {
        // Its caller may have left while it waited.
        if (!hasLeft(request)) {
          const answer = Promise.resolve(story(request, caller));
          // One whose body still arrives, such as a list to compare, may take hours: it is broken off and sent again.
          send(reply, await (request.raw.complete ? app.underWay.during(answer) : answer));
        }
      } finally {
        end();
      }
      return reply;
    },
  });
}
