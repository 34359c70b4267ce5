import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

const LOOPBACK_NAME = /^(localhost|.*\.localhost)$/;

/**
 * The address at which a browser reaches this listener: `CONSOLE_URL`, or else the request's checked `Host`.
 * Plain http only on loopback: elsewhere a browser would not keep the session cookie.
 */
export function consoleOrigin(request: FastifyRequest, consoleUrl: string | undefined): string {
  if (consoleUrl !== undefined) return new URL(consoleUrl).origin;
  const host = request.headers.host ?? '';
  const forwarded = request.headers['x-forwarded-proto'];
  const scheme = isLoopback(host) && forwarded !== 'https' ? 'http' : 'https';
  return `${scheme}://${host}`;
}

/** Whether a page of this listener sent a state-changing request, by headers that no page can forge. */
export function isFromOwnPage(request: FastifyRequest, consoleUrl: string | undefined): boolean {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  // A form on a page with `no-referrer` sends `null`.
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
