import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  clockTolerance,
  discovery,
  None,
} from 'openid-client';
import type { Clock } from '../domain/clock.ts';

/** Seconds by which clocks may differ (docs/contract.md, People). */
export const CLOCK_TOLERANCE_S = 60;

/** An issuer that answers later than this is away. */
export const ISSUER_ANSWER_MS = 5_000;
/** What it says of itself is asked for again after this long, and kept where it does not answer. */
const METADATA_MS = 60 * 60 * 1000;
/** After it failed, nobody asks again for so long: strangers decide how often it would be. */
const COOL_DOWN_MS = 5_000;

/** Who vouches for people (docs/contract.md, Commands: `OIDC_*`). */
export interface IssuerSettings {
  readonly issuer: string;
  /** Undefined: only bearer tokens, no sign-in at the console. */
  readonly clientId: string | undefined;
  /** Undefined: a public client, by PKCE alone. */
  readonly clientSecret: string | undefined;
  /** What `aud` of a bearer token must hold. */
  readonly audience: string;
  readonly rolesClaim: string;
  readonly scopes: string;
}

/** The issuer could not be asked, or answered nonsense; what it is for people and logs. */
export class IssuerUnavailable extends Error {
  constructor(cause: unknown) {
    super(`the issuer could not be asked: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
    this.name = 'IssuerUnavailable';
  }
}

/**
 * The OpenID Connect issuer, asked for what it says of itself (`/.well-known/openid-configuration`)
 * when somebody first needs it: one that is away keeps no gateway from starting.
 */
export class Issuer {
  readonly settings: IssuerSettings;
  readonly #clock: Clock;
  #known: { readonly configuration: Configuration; readonly atMs: number } | undefined;
  #asking: Promise<Configuration> | undefined;
  #failed: { readonly error: IssuerUnavailable; readonly atMs: number } | undefined;

  constructor(settings: IssuerSettings, clock: Clock) {
    this.settings = settings;
    this.#clock = clock;
  }

  /** @throws IssuerUnavailable when it never answered so far and does not now */
  async configuration(): Promise<Configuration> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#known;
    if (known !== undefined && nowMs - known.atMs < METADATA_MS) return known.configuration;
    try {
      return await this.#ask(nowMs);
    } catch (error) {
      // What it said before holds until it says something else.
      if (known !== undefined) return known.configuration;
      throw error;
    }
  }

  async #ask(nowMs: number): Promise<Configuration> {
    const failed = this.#failed;
    if (failed !== undefined && nowMs - failed.atMs < COOL_DOWN_MS) throw failed.error;
    this.#asking ??= this.#discover().finally(() => {
      this.#asking = undefined;
    });
    return await this.#asking;
  }

  async #discover(): Promise<Configuration> {
    const { issuer, clientId = 'none', clientSecret } = this.settings;
    const isPlain = issuer.startsWith('http:');
    try {
      const configuration = await discovery(
        new URL(issuer),
        clientId,
        { [clockTolerance]: CLOCK_TOLERANCE_S },
        clientAuth(clientSecret),
        {
          execute: isPlain ? [allowInsecureRequests] : [],
          timeout: ISSUER_ANSWER_MS / 1000,
        },
      );
      this.#known = { configuration, atMs: this.#clock.monotonicMs() };
      this.#failed = undefined;
      return configuration;
    } catch (cause) {
      const error = new IssuerUnavailable(cause);
      this.#failed = { error, atMs: this.#clock.monotonicMs() };
      throw error;
    }
  }
}

/**
 * In the body where the issuer says that it takes it there, else in the header: one that says nothing takes it there
 * (OpenID Connect Discovery, `token_endpoint_auth_methods_supported`).
 */
function clientAuth(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const post = ClientSecretPost(secret);
  const basic = ClientSecretBasic(secret);
  return (server, client, body, headers) => {
    const takesPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
    const auth = takesPost === true ? post : basic;
    auth(server, client, body, headers);
  };
}
