import {
  allowInsecureRequests,
  type Configuration,
  clockTolerance,
  discovery,
} from 'openid-client';
import type { Clock } from '../domain/clock.ts';
import { ClientSecret } from './client-secret.ts';
import { describeFailure } from './describe-failure.ts';
import type { RolesClaim } from './roles-claim.ts';

/** Seconds by which clocks may differ (docs/reference.md, People). */
export const CLOCK_TOLERANCE_S = 60;

/** An issuer that takes longer to answer counts as unavailable. */
export const ISSUER_ANSWER_MS = 5_000;
/** Its metadata is fetched again after this long; the previous is kept if that fails. */
const METADATA_MS = 60 * 60 * 1000;
/** No new attempt for this long after a failure: unauthenticated callers could trigger any number. */
const COOL_DOWN_MS = 5_000;

/** The issuer that authenticates people (docs/reference.md, Commands: `OIDC_*`). */
export interface IssuerSettings extends RolesClaim {
  readonly issuer: string;
  /** Undefined: only bearer tokens, no sign-in at the console. */
  readonly clientId: string | undefined;
  /** Undefined: a public client, secured by PKCE alone. */
  readonly clientSecret: string | undefined;
  /** The audience that `aud` of a bearer token must contain. */
  readonly audience: string;
  readonly scopes: string;
}

/** The issuer could not be reached, or answered nonsense. The message is for people and logs. */
export class IssuerUnavailable extends Error {
  constructor(cause: unknown) {
    super(`the issuer could not be asked: ${describeFailure(cause)}`, { cause });
    this.name = 'IssuerUnavailable';
  }
}

/** The OpenID Connect issuer. Its metadata is fetched when first needed, so that no start waits for it. */
export class Issuer {
  readonly settings: IssuerSettings;
  readonly secret: ClientSecret;
  readonly #clock: Clock;
  #known: { readonly configuration: Configuration; readonly atMs: number } | undefined;
  #asking: Promise<Configuration> | undefined;
  #failed: { readonly error: IssuerUnavailable; readonly atMs: number } | undefined;

  constructor(settings: IssuerSettings, clock: Clock) {
    this.settings = settings;
    this.secret = new ClientSecret(settings.clientSecret);
    this.#clock = clock;
  }

  /** @throws IssuerUnavailable if it has never answered, and does not answer now */
  async configuration(): Promise<Configuration> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#known;
    if (known !== undefined && nowMs - known.atMs < METADATA_MS) return known.configuration;
    try {
      return await this.#ask(nowMs);
    } catch (error) {
      // Old metadata stays valid until the issuer answers again.
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
    const { issuer, clientId = 'none' } = this.settings;
    const isPlain = issuer.startsWith('http:');
    try {
      const configuration = await discovery(
        new URL(issuer),
        clientId,
        { [clockTolerance]: CLOCK_TOLERANCE_S },
        this.secret.auth,
        {
          execute: isPlain ? [allowInsecureRequests] : [],
          timeout: ISSUER_ANSWER_MS / 1000,
        },
      );
      refuseAnyTenant(configuration.serverMetadata().issuer);
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

/** Entra ID's `common` and `organizations` stand for each tenant, whose admins could make themselves ours. */
function refuseAnyTenant(named: string): void {
  if (!/\{|%7b/i.test(named)) return;
  throw new Error(`${named} is for the people of any tenant; name your own in OIDC_ISSUER`);
}
