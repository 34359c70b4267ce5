import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { PersonRole } from '../domain/caller.ts';
import { describeFailure } from './describe-failure.ts';
import { CLOCK_TOLERANCE_S, type Issuer, IssuerUnavailable } from './issuer.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import { actorIn, hasRolesClaim, roleIn } from './roles-claim.ts';

/** Accepted for an ID token; the library checks against the issuer's metadata which one it uses. */
const ALGORITHMS = ['RS', 'PS', 'ES']
  .flatMap((kind) => ['256', '384', '512'].map((length) => kind + length))
  .concat('EdDSA', 'Ed25519');

/** What only the browser keeps until it returns from the issuer. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

type Finished =
  | { readonly kind: 'signed_in'; readonly actor: string; readonly role: PersonRole }
  | { readonly kind: 'roleless'; readonly actor: string }
  /** The issuer does not let this account in here, or somebody turned back there. */
  | { readonly kind: 'denied'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

type Claims = Readonly<Record<string, unknown>>;
type Tokens = Awaited<ReturnType<typeof authorizationCodeGrant>>;

/** Sign-in at the issuer: authorization code flow with PKCE, state and nonce. */
export class CodeFlow {
  readonly #issuer: Issuer;
  readonly #keys: IssuerKeys;

  constructor(issuer: Issuer, keys: IssuerKeys) {
    this.#issuer = issuer;
    this.#keys = keys;
  }

  /**
   * @param redirectUri registered at the issuer @param asksWho asks even somebody whom it knows (`prompt`)
   * @throws IssuerUnavailable
   */
  async begin(
    redirectUri: string,
    asksWho: boolean,
  ): Promise<{ url: string; pending: PendingSignIn }> {
    const configuration = await this.#issuer.configuration();
    const pending = {
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
    };
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.#issuer.settings.scopes,
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
      ...(asksWho ? { prompt: 'login' } : {}),
    });
    return { url: url.href, pending };
  }

  /** @param url the redirect address with the issuer's parameters @throws IssuerUnavailable */
  async finish(url: string, pending: PendingSignIn): Promise<Finished> {
    const configuration = await this.#issuer.configuration();
    try {
      const { secret } = this.#issuer;
      const { turned } = secret;
      const ask = () =>
        authorizationCodeGrant(configuration, new URL(url), {
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          pkceCodeVerifier: pending.verifier,
          idTokenExpected: true,
        });
      const tokens = await ask().catch((error: unknown) => {
        if (secret.turns(error, turned)) return ask();
        throw error;
      });
      await this.#checkSignature(tokens.id_token, configuration.serverMetadata().jwks_uri);
      return await this.#finishedBy(configuration, tokens);
    } catch (error) {
      if (error instanceof IssuerUnavailable) throw error;
      if (isUnreachable(error)) throw new IssuerUnavailable(error);
      return { kind: isDenial(error) ? 'denied' : 'refused', why: describeFailure(error) };
    }
  }

  /** Many issuers name the roles in the ID token and the `email` only in the user info. */
  async #finishedBy(configuration: Configuration, tokens: Tokens): Promise<Finished> {
    const { settings } = this.#issuer;
    const claims: Claims = tokens.claims() ?? {};
    // Where the ID token has the roles' claim, that counts, even if it names no role.
    const hasRoles = hasRolesClaim(claims, settings);
    const isComplete = hasRoles && claims.email !== undefined;
    const more = isComplete ? {} : await this.#userInfo(configuration, tokens, !hasRoles);
    const actor = actorIn({ ...more, ...claims });
    if (actor === undefined) return { kind: 'refused', why: 'the issuer names nobody' };
    const role = roleIn(hasRoles ? claims : more, settings);
    return role === undefined ? { kind: 'roleless', actor } : { kind: 'signed_in', actor, role };
  }

  /** @param isNeeded without it nobody gets in; otherwise only the `email` is missing, for which `sub` stands in */
  async #userInfo(
    configuration: Configuration,
    tokens: Tokens,
    isNeeded: boolean,
  ): Promise<Claims> {
    const sub = tokens.claims()?.sub;
    const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
    const isRequested = isNeeded || this.#issuer.settings.scopes.split(/\s+/).includes('email');
    if (endpoint === undefined || sub === undefined || !isRequested) return {};
    try {
      return await fetchUserInfo(configuration, tokens.access_token, sub);
    } catch (error) {
      if (isNeeded) throw error;
      return {};
    }
  }

  /** Not by the library, which would use keys that the issuer has already replaced. */
  async #checkSignature(idToken = '', uri: string | undefined): Promise<void> {
    const clockTolerance = CLOCK_TOLERANCE_S;
    await this.#keys.verify(idToken, uri, { algorithms: ALGORITHMS, clockTolerance });
  }
}

function isDenial(error: unknown): boolean {
  return error instanceof AuthorizationResponseError && error.error === 'access_denied';
}

/** Whether the issuer could not be reached or failed itself. Errors are wrapped, so causes are examined too. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof Response || error instanceof ResponseBodyError) return error.status >= 500;
  if (!(error instanceof Error)) return false;
  const { name, cause } = error;
  const isLate = name === 'TimeoutError' || name === 'AbortError';
  return isLate || (name === 'TypeError' && cause !== undefined) || isUnreachable(cause);
}
