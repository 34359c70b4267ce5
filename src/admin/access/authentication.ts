import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../domain/caller.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { KeyedSemaphore } from '../../lib/keyed-semaphore.ts';
import { recentMap } from '../../lib/recent.ts';
import type { StrangerLog } from '../../lib/stranger-log.ts';
import { IssuerUnavailable } from '../../people/issuer.ts';
import { actorIn, roleIn } from '../../people/roles-claim.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { callerAddress } from './caller-address.ts';
import { cookieIn, SESSION_COOKIE } from './cookies.ts';
import { isFromOwnPage } from './origin.ts';
import { givenHash, type People } from './people.ts';

const BEARER = /^Bearer +(\S+)$/i;
/** The three parts of a signed token. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const READS = new Set(['GET', 'HEAD']);

/** The most unknown cookies of one address that are looked up at a time: anybody can make up any number (I7). */
const LOOK_UPS_AT_ONCE = 2;
/** The same for each cookie that is known: whoever is signed in can send it thousands of times. */
const LOOK_UPS_OF_KNOWN = 8;
/** More than there are people. */
const KNOWN_MAX = 1_000;

const NO_TOKEN = 'The bearer token is missing or wrong';

/** Who made a request. */
export type Authentication =
  | { readonly kind: 'authenticated'; readonly caller: Caller }
  | { readonly kind: 'unauthenticated'; readonly why: string }
  /** Authenticated, but not allowed on any route. */
  | { readonly kind: 'forbidden'; readonly why: string };

/** Decides which tokens that cannot be verified are logged. */
type StrangersLogged = Pick<StrangerLog, 'next'>;

/** Authenticates a request by its bearer token or, without an `Authorization` header, by the console's cookie. */
export function authenticator(people: People, logger: Logger, strangers: StrangersLogged) {
  const expected = people.adminToken === undefined ? undefined : digest(people.adminToken);
  const cookies = new Cookies(people);
  return async (request: FastifyRequest): Promise<Authentication> => {
    const { authorization } = request.headers;
    if (authorization === undefined) return await cookies.authenticate(request);
    const token = BEARER.exec(authorization)?.[1] ?? '';
    // Digests have equal length, so that the comparison takes the same time for every guess.
    if (expected !== undefined && timingSafeEqual(digest(token), expected)) {
      return {
        kind: 'authenticated',
        caller: { actor: 'token', role: 'admin', address: callerAddress(request) },
      };
    }
    return await authenticateByIssuer(people, { logger, strangers }, request, token);
  };
}

async function authenticateByIssuer(
  { issuer }: People,
  { logger, strangers }: { readonly logger: Logger; readonly strangers: StrangersLogged },
  request: FastifyRequest,
  token: string,
): Promise<Authentication> {
  if (issuer === undefined || !JWT.test(token)) return { kind: 'unauthenticated', why: NO_TOKEN };
  try {
    const verified = await issuer.tokens.verify(token);
    switch (verified.kind) {
      case 'refused':
        return { kind: 'unauthenticated', why: verified.why };
      case 'verified': {
        const actor = actorIn(verified.claims);
        if (actor === undefined) return { kind: 'unauthenticated', why: 'The token names nobody' };
        const role = roleIn(verified.claims, issuer.roles);
        if (role === undefined) {
          return { kind: 'forbidden', why: 'The issuer gives you no role of this gateway' };
        }
        return { kind: 'authenticated', caller: { actor, role, address: callerAddress(request) } };
      }
      default:
        return unreachable(verified);
    }
  } catch (error) {
    if (!(error instanceof IssuerUnavailable)) throw error;
    // Anybody can send any number of such tokens, which must not fill the log.
    const leftOut = strangers.next();
    if (leftOut !== undefined) logger.warn({ err: error, leftOut }, 'people.issuer_unavailable');
    return { kind: 'unauthenticated', why: 'The issuer cannot be asked for its keys at present' };
  }
}

/** Authenticates by the console's cookie. */
class Cookies {
  readonly #people: Pick<People, 'sessions' | 'consoleUrl'>;
  readonly #lookUps = new KeyedSemaphore(LOOK_UPS_AT_ONCE);
  readonly #ofKnown = new KeyedSemaphore(LOOK_UPS_OF_KNOWN);
  /** Cookies that were good when they came last: PostgreSQL is asked all the same, but they wait for no stranger's. */
  readonly #known = recentMap<'known'>(KNOWN_MAX);

  constructor(people: Pick<People, 'sessions' | 'consoleUrl'>) {
    this.#people = people;
  }

  async authenticate(request: FastifyRequest): Promise<Authentication> {
    const idHash = givenHash(cookieIn(request, SESSION_COOKIE));
    if (idHash === undefined) return { kind: 'unauthenticated', why: NO_TOKEN };
    if (!READS.has(request.method) && !isFromOwnPage(request, this.#people.consoleUrl)) {
      return { kind: 'forbidden', why: "This request came from another site's page" };
    }
    const signedIn = await this.#find(idHash, request);
    if (signedIn === undefined)
      return { kind: 'unauthenticated', why: 'The session is over: sign in again' };
    const { actor, role } = signedIn;
    return { kind: 'authenticated', caller: { actor, role, address: callerAddress(request) } };
  }

  async #find(idHash: Buffer, request: FastifyRequest) {
    const key = idHash.toString('base64');
    const isKnown = this.#known.get(key) !== undefined;
    const end = await (isKnown
      ? this.#ofKnown.take(key)
      : this.#lookUps.take(callerAddress(request)));
    try {
      // Its sender may have left while it waited.
      if (request.socket.destroyed) return undefined;
      const found = await this.#people.sessions.find(idHash, isActivity(request));
      if (found === undefined) this.#known.delete(key);
      else this.#known.set(key, 'known');
      return found;
    } finally {
      end();
    }
  }
}

/** Pages mark their automatic polling, so that it does not keep the session of an absent person open. */
function isActivity(request: FastifyRequest): boolean {
  return request.headers['x-wagergate-background'] === undefined;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
