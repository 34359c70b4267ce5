import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { withoutPort } from '../../http/address-matcher.ts';

/**
 * The address of whoever sent the request, for the audit and the limits: behind a proxy of `ADMIN_TRUST_PROXY` the one
 * it names. Without a port, which would give each connection limits of its own; and the proxy's own address where it
 * passes on something that is none, since that text is its client's.
 * @returns an IP address; empty if the connection was reset meanwhile
 */
export function callerAddress(request: FastifyRequest): string {
  const said = withoutPort(request.ip ?? '');
  return isIP(said) === 0 ? (request.socket.remoteAddress ?? '') : said;
}
