import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

const LOOPBACK_NAME = /^(localhost|.*\.localhost)$/;

/**
 * Where a browser finds this listener: `CONSOLE_URL`, else by the request's own `Host`, which
 * `hostCheck` has looked at. Plain http only on this machine: elsewhere a browser would not keep the
 * cookie of a session, so TLS ends in front.
 * @returns scheme, host and port, without a slash at the end
 */
export function consoleOrigin(request: FastifyRequest, consoleUrl: string | undefined): string {
  if (consoleUrl !== undefined) return new URL(consoleUrl).origin;
  const host = request.headers.host ?? '';
  const forwarded = request.headers['x-forwarded-proto'];
  const scheme = isLoopback(host) && forwarded !== 'https' ? 'http' : 'https';
  return `${scheme}://${host}`;
}

/**
 * Whether a page of this very listener has made a request that changes something. A browser says so
 * itself in `Origin` and `Sec-Fetch-Site`, which no page can forge; where neither stands there, it is
 * nobody's browser of today, and it has no business with a cookie.
 */
export function isFromOwnPage(request: FastifyRequest, consoleUrl: string | undefined): boolean {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  // A form of a page that names no referrer says `null`.
  if (origin === undefined || origin === 'null') return site === 'same-origin';
  if (!URL.canParse(origin) || host === '') return false;
  return new URL(origin).host === host.toLowerCase() || origin === ownOrigin(consoleUrl);
}

function ownOrigin(consoleUrl: string | undefined): string | undefined {
  return consoleUrl === undefined ? undefined : new URL(consoleUrl).origin;
}

function isLoopback(host: string): boolean {
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  if (LOOPBACK_NAME.test(hostname) || hostname === '[::1]') return true;
  return isIP(hostname) === 4 && hostname.startsWith('127.');
}
