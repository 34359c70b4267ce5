import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  type RemoteJWKSet,
} from 'jose';
import type { Clock } from '../domain/clock.ts';
import { TokenBuckets } from '../lib/token-bucket.ts';
import { ISSUER_ANSWER_MS, IssuerUnavailable } from './issuer.ts';

/**
 * How often the keys are asked for. A key that is not known may be new, so that a rotation is followed
 * at once; but a stranger may name as many as it likes.
 */
const ASKED = { perSecond: 0.1, burst: 5 };
/** Keys are asked for again after this long, known or not. */
const FRESH_MS = 10 * 60 * 1000;
/** Keys of an issuer that is away are believed for so long. */
const KEPT_MS = 60 * 60 * 1000;

/** The issuer's keys, as they are or as they were a little while ago. */
export class IssuerKeys {
  readonly #clock: Clock;
  readonly #asked: TokenBuckets;
  #of: { readonly uri: string; readonly keys: RemoteJWKSet } | undefined;
  #last: { readonly body: string; readonly atMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#asked = new TokenBuckets(clock, ASKED);
  }

  /**
   * The claims of a token that the issuer has signed.
   *
   * @param uri `jwks_uri` of the issuer's metadata
   * @throws JOSEError of `jose` for any other token
   * @throws IssuerUnavailable when its keys cannot be read
   */
  async verify(
    token: string,
    uri: string | undefined,
    options: JWTVerifyOptions,
  ): Promise<JWTPayload> {
    if (uri === undefined) throw new IssuerUnavailable('it names no jwks_uri');
    const seen = this.#last?.body;
    try {
      try {
        return await claimsOf(token, this.#at(uri), options);
      } catch (error) {
        // Where no key has the token's `kid`, jose asks for them anew by itself. A key that bears no name, or
        // its predecessor's, cannot be known as new in any other way than this.
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
        if (!(await this.#haveChangedSince(uri, seen))) throw error;
        return await claimsOf(token, this.#at(uri), options);
      }
    } catch (error) {
      // Whatever else is wrong with it is jose's to know and its maker's to find out.
      if (error instanceof errors.JOSEError) throw error;
      throw new IssuerUnavailable(error);
    }
  }

  /** Whether the issuer has other keys than those `seen`; it is asked unless somebody else has done so since. */
  async #haveChangedSince(uri: string, seen: string | undefined): Promise<boolean> {
    if (this.#last?.body === seen) await this.#at(uri).reload();
    return this.#last?.body !== seen;
  }

  #at(uri: string): RemoteJWKSet {
    if (this.#of?.uri !== uri) {
      this.#last = undefined;
      const keys = createRemoteJWKSet(new URL(uri), {
        timeoutDuration: ISSUER_ANSWER_MS,
        // How often is decided below, by the same rule for keys that fail to come.
        cooldownDuration: 0,
        cacheMaxAge: FRESH_MS,
        [customFetch]: (url, options) => this.#fetch(url, options),
      });
      this.#of = { uri, keys };
    }
    return this.#of.keys;
  }

  /** The keys from the issuer, or the last ones where it may not be asked or does not answer. */
  async #fetch(url: string, options: RequestInit): Promise<Response> {
    if (this.#asked.take('keys') > 0) return this.#kept('it was asked too often');
    try {
      const response = await fetch(url, options);
      if (response.status !== 200) return this.#kept(`it answered ${response.status}`);
      const body = await response.text();
      if (!holdsKeys(body)) return this.#kept('it answered no keys');
      this.#last = { body, atMs: this.#clock.monotonicMs() };
      return new Response(body);
    } catch (error) {
      return this.#kept('it does not answer', error);
    }
  }

  #kept(why: string, cause?: unknown): Response {
    const last = this.#last;
    if (last === undefined || this.#clock.monotonicMs() - last.atMs > KEPT_MS) {
      throw new Error(`no keys of the issuer: ${why}`, { cause });
    }
    return new Response(last.body);
  }
}

/** A proxy may put a page of its own in their place, with status 200. */
function holdsKeys(body: string): boolean {
  try {
    createLocalJWKSet(JSON.parse(body));
    return true;
  } catch {
    // No JSON, or no set of keys: it does not matter which.
    return false;
  }
}

/** Tries each key where the token does not say by which it was signed. */
async function claimsOf(
  token: string,
  keys: RemoteJWKSet,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (inner) {
        if (!(inner instanceof errors.JWSSignatureVerificationFailed)) throw inner;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}
