import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  None,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';

const WAYS = ['client_secret_post', 'client_secret_basic'] as const;
type Way = (typeof WAYS)[number];

/**
 * How the console's secret is sent: metadata lists two ways, and many issuers take only the registered one.
 * So the second is tried when the first is refused, and kept once it works.
 */
export class ClientSecret {
  readonly #given: Readonly<Record<Way, ClientAuth>> | undefined;
  #ways: readonly Way[] = [];
  #turned = 0;

  /** @param secret undefined: a public client */
  constructor(secret: string | undefined) {
    if (secret === undefined) return;
    this.#given = {
      client_secret_post: ClientSecretPost(secret),
      client_secret_basic: ClientSecretBasic(secret),
    };
  }

  readonly auth: ClientAuth = (server, client, body, headers) => {
    if (this.#given === undefined) return None()(server, client, body, headers);
    const listed = server.token_endpoint_auth_methods_supported;
    // The header is the default for an issuer that lists nothing (OpenID Connect Discovery).
    this.#ways = WAYS.filter((way) => listed?.includes(way));
    const way = this.#ways[this.#turned % this.#ways.length] ?? 'client_secret_basic';
    return this.#given[way](server, client, body, headers);
  };

  /** How often the other way was chosen; to be read before a sign-in asks. */
  get turned(): number {
    return this.#turned;
  }

  /** Whether to ask again with the other way. @param seen `turned` before: only the first refusal chooses */
  turns(error: unknown, seen: number): boolean {
    if (this.#ways.length < 2 || !isUnrecognised(error)) return false;
    if (this.#turned === seen) this.#turned += 1;
    return true;
  }
}

/** Whether the issuer did not recognise the client. */
function isUnrecognised(error: unknown): boolean {
  if (error instanceof ResponseBodyError) return error.error === 'invalid_client';
  return error instanceof WWWAuthenticateChallengeError && error.status === 401;
}
