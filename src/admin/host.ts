import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CODES } from '../domain/codes.ts';
import { failure } from '../protocol/answers.ts';
import { send } from './answers.ts';

/** What nobody on the internet can own: names without a dot, and the cluster's and the LAN's own. */
const INTERNAL_NAME = /^[a-z0-9_-]+$|\.(?:localhost|local|internal|svc|cluster\.local)$/;

/**
 * Refuses requests under a name that somebody else may own. A page in a browser of the inside may
 * have its own name point at this listener (DNS rebinding) and would then read its answers; the name
 * in `Host` still is the page's.
 *
 * @param names taken besides: the listener's own on the inside (`ADMIN_HOSTS`)
 */
export function hostCheck(names: readonly string[] = []) {
  // Pasted from a browser, one has a scheme and a port.
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

/** Without port and brackets. */
function nameIn(host: string): string {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  return (bracketed ?? (plain === '' ? host : plain)).toLowerCase();
}
