import { errors, type JWTPayload } from 'jose';
import type { Clock } from '../domain/clock.ts';
import { CLOCK_TOLERANCE_S, type Issuer } from './issuer.ts';
import type { IssuerKeys } from './issuer-keys.ts';

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
  readonly #keys: IssuerKeys;
  readonly #clock: Clock;

  constructor(issuer: Issuer, keys: IssuerKeys, clock: Clock) {
    this.#issuer = issuer;
    this.#keys = keys;
    this.#clock = clock;
  }

  /** @throws IssuerUnavailable when it was never there so far */
  async verify(token: string): Promise<Verified> {
    if (token.length > TOKEN_LENGTH_MAX) return refused('The token is too long');
    const configuration = await this.#issuer.configuration();
    const { issuer, jwks_uri: uri } = configuration.serverMetadata();
    try {
      const claims = await this.#keys.verify(token, uri, {
        issuer,
        audience: this.#issuer.settings.audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ['exp'],
        currentDate: new Date(this.#clock.nowMs()),
      });
      return { kind: 'verified', claims };
    } catch (error) {
      if (error instanceof errors.JWTExpired) return refused('The token has expired');
      if (error instanceof errors.JOSEError) return refused('The token is not valid here');
      throw error;
    }
  }
}

function refused(why: string): Verified {
  return { kind: 'refused', why };
}
