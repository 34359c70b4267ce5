import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CODES } from '../../domain/codes.ts';
import { failure } from '../../protocol/answers.ts';
import { send } from '../answers.ts';

/** Names that nobody on the internet can own: without a dot, or of the cluster or the LAN. */
const INTERNAL_NAME = /^[a-z0-9_-]+$|\.(?:localhost|local|internal|svc|cluster\.local)$/;

/**
 * Refuses requests whose `Host` is a name that somebody else may own (DNS rebinding).
 * @param names also accepted: the listener's internal names (`ADMIN_HOSTS`)
 */
export function hostCheck(names: readonly string[] = []) {
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
