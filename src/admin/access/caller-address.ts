import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { withoutPort } from '../../http/address-matcher.ts';

/**
 * Whoever sent the request: behind a proxy of `ADMIN_TRUST_PROXY` the address that it names, without a port.
 * Empty if the connection was reset meanwhile.
 */
export function callerAddress(request: FastifyRequest): string {
  const said = withoutPort(request.ip ?? '');
  return isIP(said) === 0 ? (request.socket.remoteAddress ?? '') : said;
}
