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
 * How the console's secret is sent. An issuer's metadata lists what it knows, and many take it from a client only in the
 * one way that the client was registered with, which nothing tells. So where both may be meant, the second is tried when the
 * first is refused, and kept once it works: an issuer looks at a code only after it has recognised the client.
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

  /**
   * Whether to ask again, since the secret is sent otherwise by now.
   * @param seen `turned` before it was asked: of many that are refused together, only the first chooses
   */
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
