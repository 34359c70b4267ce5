import type { FastifyRequest } from 'fastify';

/**
 * The browser takes a name with this prefix only with Secure, for all paths, and for no other host:
 * nobody who has a neighbouring host can plant one.
 */
const PREFIX = '__Host-wagergate-';

/** The session of who is signed in at the console. Never sent along from another site. */
export const SESSION_COOKIE = {
  name: `${PREFIX}session`,
  sameSite: 'Strict',
} as const;

/** What a sign-in that was begun keeps in the browser; it comes back from the issuer's site. */
export const PENDING_COOKIE = {
  name: `${PREFIX}sign-in`,
  sameSite: 'Lax',
} as const;

type Cookie = typeof SESSION_COOKIE | typeof PENDING_COOKIE;

/** The value that a request carries; undefined for none, and for several, of which one is planted. */
export function cookieIn(request: FastifyRequest, { name }: Cookie): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined;
}

/** @param value of letters, digits, `.`, `_`, `-` and `~` */
export function setCookie({ name, sameSite }: Cookie, value: string, lastsMs: number): string {
  const maxAge = Math.floor(lastsMs / 1000);
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; Secure; SameSite=${sameSite}`;
}

export function dropCookie(cookie: Cookie): string {
  return setCookie(cookie, '', 0);
}
