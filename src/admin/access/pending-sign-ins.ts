import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { cookieIn, dropCookie, PENDING_COOKIE, setCookie } from './cookies.ts';

/** A sign-in not completed at the issuer by then has to be started again. */
const PENDING_MS = 10 * 60 * 1000;
/** Somebody whose session is over may begin in each of several tabs. */
const PENDING_MAX = 3;
/** Browsers drop a cookie of more than 4,096 characters together with its name. */
const VALUE_LENGTH_MAX = 3_900;

const pendingSignIn = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string(),
});

/** A sign-in that was begun in this browser: what only the browser keeps, and the page to return to. */
type Pending = z.output<typeof pendingSignIn>;

const pendingValue = z.array(pendingSignIn).max(PENDING_MAX);

/** Has the browser keep one more sign-in, and the latest ones beside it that fit. */
export function keepPending(request: FastifyRequest, reply: FastifyReply, begun: Pending): void {
  const earlier = allIn(request).slice(1 - PENDING_MAX);
  const fitting = [[...earlier, begun], [...earlier.slice(1), begun], [begun]].find(fits);
  store(reply, fitting ?? [{ ...begun, to: '/console' }]);
}

/** The sign-in to which a return from the issuer belongs. It is good for that one return, successful or not. */
export function takePending(
  request: FastifyRequest,
  reply: FastifyReply,
  state: string | undefined,
): Pending | undefined {
  const all = allIn(request);
  const taken = all.find((one) => one.state === state);
  // A return that belongs to none, which any site can make up, ends none.
  if (taken !== undefined) {
    store(
      reply,
      all.filter((one) => one !== taken),
    );
  }
  return taken;
}

function store(reply: FastifyReply, all: readonly Pending[]): void {
  const isLeft = all.length > 0;
  const cookie = isLeft
    ? setCookie(PENDING_COOKIE, encoded(all), PENDING_MS)
    : dropCookie(PENDING_COOKIE);
  reply.header('set-cookie', cookie);
}

function allIn(request: FastifyRequest): readonly Pending[] {
  const text = Buffer.from(cookieIn(request, PENDING_COOKIE) ?? '', 'base64url').toString();
  try {
    return pendingValue.safeParse(JSON.parse(text)).data ?? [];
  } catch {
    // Not JSON: this gateway did not set it.
    return [];
  }
}

function encoded(all: readonly Pending[]): string {
  return Buffer.from(JSON.stringify(all)).toString('base64url');
}

function fits(all: readonly Pending[]): boolean {
  return encoded(all).length <= VALUE_LENGTH_MAX;
}
