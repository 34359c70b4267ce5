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

/** How often the keys may be fetched: a new key may be unknown, but anybody can name unknown keys. */
const ASKED = { perSecond: 0.1, burst: 5 };
/** Keys are fetched again after this long, even if the key is known. */
const FRESH_MS = 10 * 60 * 1000;
/** How long the last keys are trusted while the issuer is unreachable. */
const KEPT_MS = 60 * 60 * 1000;

/** The issuer's keys, cached, and kept for a while if it is unreachable. */
export class IssuerKeys {
  readonly #clock: Clock;
  readonly #asked: TokenBuckets;
  #of: { readonly uri: string; readonly keys: RemoteJWKSet } | undefined;
  #last: { readonly body: string; readonly atMs: number } | undefined;
  /** Why the issuer's keys could not be read when it was asked last: it may have taken new ones. */
  #unread: Error | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#asked = new TokenBuckets(clock, ASKED);
  }

  /**
   * The claims of a token that the issuer has signed. @param uri `jwks_uri` of the metadata
   * @throws JOSEError for any other token; IssuerUnavailable when the keys cannot be read
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
        // jose fetches keys again for an unknown `kid`; without one a new key shows only as a failed signature.
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
        if (!(await this.#haveChangedSince(uri, seen))) throw error;
        return await claimsOf(token, this.#at(uri), options);
      }
    } catch (error) {
      if (this.#unread !== undefined && isOfUnknownKey(error)) {
        throw new IssuerUnavailable(this.#unread);
      }
      // Anything else wrong with the token is a JOSEError, which is the bearer's problem.
      if (error instanceof errors.JOSEError) throw error;
      throw new IssuerUnavailable(error);
    }
  }

  /** Whether the issuer's keys differ from those `seen`; fetches them unless another request has done so since. */
  async #haveChangedSince(uri: string, seen: string | undefined): Promise<boolean> {
    if (this.#last?.body === seen) await this.#at(uri).reload();
    return this.#last?.body !== seen;
  }

  #at(uri: string): RemoteJWKSet {
    if (this.#of?.uri !== uri) {
      this.#last = undefined;
      const keys = createRemoteJWKSet(new URL(uri), {
        timeoutDuration: ISSUER_ANSWER_MS,
        // `#asked` limits fetches instead, including failed ones.
        cooldownDuration: 0,
        cacheMaxAge: FRESH_MS,
        [customFetch]: (url, options) => this.#fetch(url, options),
      });
      this.#of = { uri, keys };
    }
    return this.#of.keys;
  }

  /** The issuer's keys, or the last ones if the limit is reached or it does not answer. */
  async #fetch(url: string, options: RequestInit): Promise<Response> {
    if (this.#asked.take('keys') > 0) return this.#kept(noKeys('it was asked too often'));
    try {
      const response = await fetch(url, options);
      if (response.status !== 200) return this.#notRead(`it answered ${response.status}`);
      const body = await response.text();
      if (!holdsKeys(body)) return this.#notRead('it answered no keys');
      this.#last = { body, atMs: this.#clock.monotonicMs() };
      this.#unread = undefined;
      return new Response(body);
    } catch (error) {
      return this.#notRead('it does not answer', error);
    }
  }

  #notRead(why: string, cause?: unknown): Response {
    this.#unread = noKeys(why, cause);
    return this.#kept(this.#unread);
  }

  #kept(otherwise: Error): Response {
    const last = this.#last;
    if (last === undefined || this.#clock.monotonicMs() - last.atMs > KEPT_MS) throw otherwise;
    return new Response(last.body);
  }
}

function noKeys(why: string, cause?: unknown): Error {
  return new Error(`no keys of the issuer: ${why}`, { cause });
}

/** Whether none of the keys that were known has signed the token. */
function isOfUnknownKey(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSSignatureVerificationFailed
  );
}

/** Whether a body is a key set: a proxy may answer 200 with a page of its own instead. */
function holdsKeys(body: string): boolean {
  try {
    createLocalJWKSet(JSON.parse(body));
    return true;
  } catch {
    // Not JSON, or not a key set: it does not matter which.
    return false;
  }
}

/** The claims of a valid token. Tries each key if the token does not name the one that signed it. */
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
        // TypeError: this key can verify nothing, e.g. because it is too short; another one may have signed.
        const isOther = inner instanceof errors.JWSSignatureVerificationFailed;
        if (!isOther && !(inner instanceof TypeError)) throw inner;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}
