import type { FastifyRequest } from 'fastify';

/**
 * Browsers accept this prefix only on a Secure cookie for all paths and exactly this host, so that
 * nobody who controls a sibling host can plant one.
 */
const PREFIX = '__Host-wagergate-';

/** The console session of a signed-in person. Browsers do not send it with requests from other sites. */
export const SESSION_COOKIE = {
  name: `${PREFIX}session`,
  sameSite: 'Strict',
} as const;

/**
 * State of a sign-in in progress; each has a cookie whose name begins so. `Lax`, because the browser returns with it from
 * the issuer's site.
 */
export const PENDING_COOKIE = {
  name: `${PREFIX}sign-in`,
  sameSite: 'Lax',
} as const;

/**
 * This browser's last person signed out, has no role here, or was denied by the issuer. `Lax`, so that a link from
 * elsewhere to the sign-in has it as well.
 */
export const LEFT_COOKIE = {
  name: `${PREFIX}left`,
  sameSite: 'Lax',
} as const;

interface Cookie {
  readonly name: string;
  readonly sameSite: 'Strict' | 'Lax';
}

const NAMES_MAX = 20;

/**
 * A cookie without the blanks that may stand around it (RFC 6265). Not `trim`, which also takes a no-break space away: to a
 * browser a name that begins with one lacks the prefix, so that any sibling host may set it. Not a pattern of the blanks
 * either, which would look at a long run of them once for each: anybody may send one.
 */
const BETWEEN_BLANKS = /[^ \t].*[^ \t]|[^ \t]/s;

/** The cookie's value in a request; undefined if it is missing, or present twice: then one is planted. */
export function cookieIn(request: FastifyRequest, { name }: Cookie): string | undefined {
  const values = pairsIn(request).filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]?.slice(name.length + 1) : undefined;
}

/** Names of the kind `<name>-<part>`, in the order in which they were sent; at most twenty. */
export function cookieNamesIn(request: FastifyRequest, { name }: Cookie): readonly string[] {
  const names = pairsIn(request).map((pair) => pair.slice(0, Math.max(0, pair.indexOf('='))));
  const ofKind = names.filter(
    (one) => one.startsWith(`${name}-`) && /^[\w-]+$/.test(one.slice(name.length + 1)),
  );
  return [...new Set(ofKind)].slice(0, NAMES_MAX);
}

function pairsIn(request: FastifyRequest): readonly string[] {
  const cookies = (request.headers.cookie ?? '').split(';');
  return cookies.map((pair) => BETWEEN_BLANKS.exec(pair)?.[0] ?? '');
}

/** @param value of letters, digits, `.`, `_`, `-` and `~` */
export function setCookie({ name, sameSite }: Cookie, value: string, lastsMs: number): string {
  const maxAge = Math.floor(lastsMs / 1000);
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; Secure; SameSite=${sameSite}`;
}

export function dropCookie(cookie: Cookie): string {
  return setCookie(cookie, '', 0);
}
