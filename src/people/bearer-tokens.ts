import { errors, type JWTPayload } from 'jose';
import type { Clock } from '../domain/clock.ts';
import { CLOCK_TOLERANCE_S, type Issuer } from './issuer.ts';
import type { IssuerKeys } from './issuer-keys.ts';

/** Asymmetric only: a token that says HS256 would be verified with the public key as its secret. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** No issuer's token is longer; Node's limit for all headers is 16 KiB. */
const TOKEN_LENGTH_MAX = 12_000;

type Verified =
  | { readonly kind: 'verified'; readonly claims: JWTPayload }
  /** `why` may be shown to the bearer: it does not reveal what would have been accepted. */
  | { readonly kind: 'refused'; readonly why: string };

/** Verifies bearer tokens that the issuer has signed. */
export class BearerTokens {
  readonly #issuer: Issuer;
  readonly #keys: IssuerKeys;
  readonly #clock: Clock;

  constructor(issuer: Issuer, keys: IssuerKeys, clock: Clock) {
    this.#issuer = issuer;
    this.#keys = keys;
    this.#clock = clock;
  }

  /** @throws IssuerUnavailable if the issuer could not be reached so far */
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
