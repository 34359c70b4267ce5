import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CODES } from '../domain/codes.ts';
import { failure } from '../protocol/answers.ts';
import { send } from './answers.ts';

const BEARER = /^Bearer +(\S+)$/i;

/** Lets through who carries the bearer token; everybody else is answered 401. */
export function requireToken(token: string) {
  const expected = digest(token);
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply | undefined> => {
    const given = BEARER.exec(request.headers.authorization ?? '')?.[1] ?? '';
    // Digests are of one length, so that the comparison takes the same time for every guess.
    if (timingSafeEqual(digest(given), expected)) return undefined;
    reply.header('www-authenticate', 'Bearer');
    send(reply, failure(CODES.badSignature, 'The bearer token is missing or wrong', 401));
    return reply;
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
