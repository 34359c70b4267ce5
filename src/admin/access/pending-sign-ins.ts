import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { cookieIn, cookieNamesIn, dropCookie, PENDING_COOKIE, setCookie } from './cookies.ts';

/** A sign-in not completed at the issuer by then has to be started again. */
const PENDING_MS = 10 * 60 * 1000;
/** Somebody whose session is over may begin in each of several tabs. */
const PENDING_MAX = 3;
/** All of them have to fit into the head of a request, which has 16 KiB; browsers drop a cookie of more than 4,096. */
const VALUE_LENGTH_MAX = 2_400;
/** Of the state, in the name of its cookie. */
const STATE_CHARACTERS = 16;

const pendingSignIn = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string(),
});

/** A sign-in that was begun in this browser: what only the browser keeps, and the page to return to. */
type Pending = z.output<typeof pendingSignIn>;

/** A cookie for each sign-in: tabs that begin at the same moment would overwrite a common one. Only a few stay. */
export function keepPending(request: FastifyRequest, reply: FastifyReply, begun: Pending): void {
  const earlier = cookieNamesIn(request, PENDING_COOKIE);
  // Browsers send the oldest first.
  for (const name of earlier.slice(0, Math.max(0, earlier.length + 1 - PENDING_MAX))) {
    reply.header('set-cookie', dropCookie({ ...PENDING_COOKIE, name }));
  }
  const whole = encoded(begun);
  const value = whole.length <= VALUE_LENGTH_MAX ? whole : encoded({ ...begun, to: '/console' });
  reply.header('set-cookie', setCookie(cookieOf(begun.state), value, PENDING_MS));
}

/** The sign-in to which a return from the issuer belongs. It is good for that one return, successful or not. */
export function takePending(
  request: FastifyRequest,
  reply: FastifyReply,
  state: string | undefined,
): Pending | undefined {
  if (state === undefined) return undefined;
  const cookie = cookieOf(state);
  const pending = read(cookieIn(request, cookie));
  // A return that belongs to none, which any site can make up, ends none.
  if (pending?.state !== state) return undefined;
  reply.header('set-cookie', dropCookie(cookie));
  return pending;
}

function cookieOf(state: string) {
  // The state of a return is whatever its address says, and a name takes fewer characters.
  const part = state.replaceAll(/[^A-Za-z0-9_-]/g, '').slice(0, STATE_CHARACTERS);
  return { ...PENDING_COOKIE, name: `${PENDING_COOKIE.name}-${part}` };
}

function read(text: string | undefined): Pending | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text ?? '', 'base64url').toString());
    return pendingSignIn.safeParse(value).data;
  } catch {
    // Not JSON: this gateway did not set it.
    return undefined;
  }
}

function encoded(pending: Pending): string {
  return Buffer.from(JSON.stringify(pending)).toString('base64url');
}
