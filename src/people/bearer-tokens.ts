import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { Clock } from '../domain/clock.ts';
import { CLOCK_TOLERANCE_S, type Issuer, IssuerUnavailable } from './issuer.ts';
import { IssuerKeys } from './issuer-keys.ts';

/** No other: a token that says HS256 would be verified with a key that everybody has. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** Longer ones are no token of an issuer; Node's limit for all headers is 16 KiB. */
const TOKEN_LENGTH_MAX = 12_000;

type Verified =
  | { readonly kind: 'verified'; readonly claims: JWTPayload }
  /** `why` may be told to its bearer: it says nothing of what would have been right. */
  | { readonly kind: 'refused'; readonly why: string };

/** Verifies what the issuer has signed for somebody else to bring. */
export class BearerTokens {
  readonly #issuer: Issuer;
  readonly #clock: Clock;
  readonly #keys: IssuerKeys;

  constructor(issuer: Issuer, clock: Clock) {
    this.#issuer = issuer;
    this.#clock = clock;
    this.#keys = new IssuerKeys(clock);
  }

  /** @throws IssuerUnavailable when it was never there so far */
  async verify(token: string): Promise<Verified> {
    if (token.length > TOKEN_LENGTH_MAX) return refused('The token is too long');
    const configuration = await this.#issuer.configuration();
    const { issuer, jwks_uri: uri } = configuration.serverMetadata();
    if (uri === undefined) throw new IssuerUnavailable('it names no jwks_uri');
    const options: JWTVerifyOptions = {
      issuer,
      audience: this.#issuer.settings.audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_S,
      requiredClaims: ['exp'],
      currentDate: new Date(this.#clock.nowMs()),
    };
    try {
      return { kind: 'verified', claims: await this.#claims(token, uri, options) };
    } catch (error) {
      if (error instanceof errors.JWTExpired) return refused('The token has expired');
      // Whatever else is wrong with it is jose's to know and its maker's to find out.
      if (error instanceof errors.JOSEError) return refused('The token is not valid here');
      throw new IssuerUnavailable(error);
    }
  }

  /** Keys are looked up by name, where tokens bear one; where none fits, jose asks for them anew by itself. */
  async #claims(token: string, uri: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    const seen = this.#keys.seen();
    try {
      return await claimsOf(token, this.#keys.at(uri), options);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      if (!(await this.#keys.haveChangedSince(uri, seen))) throw error;
      return await claimsOf(token, this.#keys.at(uri), options);
    }
  }
}

function refused(why: string): Verified {
  return { kind: 'refused', why };
}

/** Tries each key where the token does not say by which it was signed. */
async function claimsOf(
  token: string,
  keys: ReturnType<IssuerKeys['at']>,
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
