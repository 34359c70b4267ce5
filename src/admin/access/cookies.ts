import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyRequest } from 'fastify';

/** Browsers accept this prefix only on a Secure cookie of exactly this host: no sibling host can plant one. */
const PREFIX = '__Host-wagergate-';

/** The console session of a signed-in person. Browsers do not send it with requests from other sites. */
export const SESSION_COOKIE = {
  name: `${PREFIX}session`,
  sameSite: 'strict',
} as const;

/** Each sign-in in progress has a cookie with this prefix. `Lax`: the browser returns from the issuer's site. */
export const PENDING_COOKIE = {
  name: `${PREFIX}sign-in`,
  sameSite: 'lax',
} as const;

/** The last person signed out, has no role, or was denied by the issuer. `Lax`, for links from elsewhere. */
export const LEFT_COOKIE = {
  name: `${PREFIX}left`,
  sameSite: 'lax',
} as const;

interface Cookie {
  readonly name: string;
  readonly sameSite: 'strict' | 'lax';
}

const NAMES_MAX = 20;

/** The cookie's value in a request; the first where there are several. */
export function cookieIn(request: FastifyRequest, { name }: Cookie): string | undefined {
  return cookiesIn(request)[name];
}

/** Names of the kind `<name>-<part>`, in the order in which they were sent; at most twenty. */
export function cookieNamesIn(request: FastifyRequest, { name }: Cookie): readonly string[] {
  return Object.keys(cookiesIn(request))
    .filter((one) => one.startsWith(`${name}-`) && /^[\w-]+$/.test(one.slice(name.length + 1)))
    .slice(0, NAMES_MAX);
}

/** The parser trims only blanks and tabs: after a no-break space, a name only looks as if it had the prefix. */
function cookiesIn(request: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return parseCookie(request.headers.cookie ?? '');
}

/** @param value of letters, digits, `.`, `_`, `-` and `~` */
export function setCookie({ name, sameSite }: Cookie, value: string, lastsMs: number): string {
  const maxAge = Math.floor(lastsMs / 1000);
  const kept = { path: '/', maxAge, httpOnly: true, secure: true, sameSite } as const;
  return stringifySetCookie({ name, value, ...kept });
}

export function dropCookie(cookie: Cookie): string {
  return setCookie(cookie, '', 0);
}
