import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export const CLIENT_ID = 'wagergate-console';
export const CLIENT_SECRET = 'the-secret-of-the-console';

type Key = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

/** `undefined` removes a claim. */
type Claims = Readonly<Record<string, unknown>>;

/** An OpenID Connect issuer that signs anybody in as the person that the test says. */
export interface StubIssuer {
  readonly url: string;
  /** The claims of the next sign-in. */
  person: Claims;
  /** How often each path was requested. */
  readonly asked: Map<string, number>;
  /**
   * A token with these claims merged into valid ones, with the issuer's current signature. `kid: null` leaves it
   * out.
   */
  token(
    claims: Claims,
    options?: { alg?: string; kid?: string | null; key?: Key },
  ): Promise<string>;
  /** The public key of RS256 as anybody can fetch it. */
  publicKey(): JWK;
  /** Signs with a new key from now on, and forgets the old one; `sameKid`: under the old key's id. */
  rotate(how?: { sameKid?: boolean }): Promise<void>;
  isAway: boolean;
  /** Answers everything except requests for its keys. */
  isKeyless: boolean;
  /** The key that signs the ID token of a sign-in, if it is not the issuer's. */
  impostor: Key | undefined;
  /**
   * The ways in which it says that it accepts the client's secret; undefined: it says nothing, and accepts only the
   * header.
   */
  authMethods: readonly string[] | undefined;
  /** The only ones of these in which it takes this client's secret, as it was registered: many have all others refused. */
  registeredWay: readonly string[] | undefined;
  /** Keys that it publishes before its own. */
  strangeKeys: readonly JWK[];
  /** What it tells when asked for user info, besides `sub`; undefined: it has no such address; a number: it fails so. */
  userInfo: Claims | number | undefined;
  /** What it refuses a sign-in with, instead of a code. */
  refusal: Readonly<Record<string, string>> | undefined;
  /** The issuer that its metadata names. */
  named: string;
  /** Every answer is replaced by a page with status 200. */
  showsPage: boolean;
  close(): Promise<void>;
}

export async function startIssuer(): Promise<StubIssuer> {
  const codes = new Map<string, { challenge: string; nonce: string; redirectUri: string }>();
  const keys = new Map<string, { key: Key; jwk: JWK }>();
  let generation = 0;
  const rotate = async ({ sameKid = false } = {}) => {
    if (!sameKid) generation += 1;
    keys.clear();
    for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA']) {
      const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
      const kid = `${alg}-${generation}`;
      keys.set(alg, {
        key: privateKey,
        jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
      });
    }
  };
  await rotate();

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  const issuer: StubIssuer = {
    url,
    person: {},
    asked: new Map(),
    isAway: false,
    isKeyless: false,
    impostor: undefined,
    authMethods: ['client_secret_post'],
    registeredWay: undefined,
    strangeKeys: [],
    userInfo: undefined,
    refusal: undefined,
    named: url,
    showsPage: false,
    rotate,
    token: async (claims, { alg = 'RS256', kid, key } = {}) => {
      const own = keys.get(alg);
      const signer = key ?? own?.key;
      if (signer === undefined) throw new Error(`no key for ${alg}`);
      const nowS = Math.floor(Date.now() / 1000);
      const good = { iss: url, aud: CLIENT_ID, sub: 'somebody', iat: nowS, exp: nowS + 300 };
      return await new SignJWT({ ...good, ...claims })
        .setProtectedHeader({
          alg,
          ...optional('kid', kid === null ? undefined : (kid ?? own?.jwk.kid)),
        })
        .sign(signer);
    },
    publicKey: () => keys.get('RS256')?.jwk ?? {},
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    issuer.asked.set(pathname, (issuer.asked.get(pathname) ?? 0) + 1);
    if (issuer.isAway) return void request.socket.destroy();
    if (issuer.showsPage) return void response.end('<html>We will be back soon</html>');
    const json = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return json(200, {
          issuer: issuer.named,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/jwks`,
          response_types_supported: ['code'],
          id_token_signing_alg_values_supported: ['RS256'],
          subject_types_supported: ['public'],
          ...optional('token_endpoint_auth_methods_supported', issuer.authMethods),
          ...(issuer.userInfo === undefined ? {} : { userinfo_endpoint: `${url}/userinfo` }),
        });
      case '/userinfo':
        if (typeof issuer.userInfo === 'number') return json(issuer.userInfo, {});
        return json(200, { sub: issuer.person.sub ?? 'somebody', ...issuer.userInfo });
      case '/jwks':
        if (issuer.isKeyless) return json(500, {});
        return json(200, {
          keys: [...issuer.strangeKeys, ...[...keys.values()].map(({ jwk }) => jwk)],
        });
      case '/authorize': {
        const code = `code-${codes.size}-${Math.random()}`;
        const redirectUri = searchParams.get('redirect_uri') ?? '';
        codes.set(code, {
          challenge: searchParams.get('code_challenge') ?? '',
          nonce: searchParams.get('nonce') ?? '',
          redirectUri,
        });
        const back = new URL(redirectUri);
        const answers = { ...(issuer.refusal ?? { code }), state: searchParams.get('state') ?? '' };
        for (const [name, value] of Object.entries(answers)) back.searchParams.set(name, value);
        response.writeHead(302, { location: back.href });
        return void response.end();
      }
      case '/token': {
        const form = new URLSearchParams(await textOf(request));
        const challenge = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url');
        const ways = issuer.registeredWay ?? issuer.authMethods ?? ['client_secret_basic'];
        const isClient = isSecretIn(ways, {
          client_secret_post: form.get('client_secret') === CLIENT_SECRET,
          client_secret_basic: isOurBasic(request.headers.authorization),
        });
        if (!isClient) return json(401, { error: 'invalid_client' });
        const asked = codes.get(form.get('code') ?? '');
        codes.delete(form.get('code') ?? '');
        if (
          asked === undefined ||
          asked.challenge !== challenge ||
          asked.redirectUri !== form.get('redirect_uri')
        ) {
          return json(400, { error: 'invalid_grant' });
        }
        const claims = { nonce: asked.nonce, ...issuer.person };
        const idToken = await issuer.token(claims, optional('key', issuer.impostor));
        return json(200, { access_token: 'opaque', token_type: 'Bearer', id_token: idToken });
      }
      default:
        return json(404, {});
    }
  };
  return issuer;
}

/** Sent in exactly one of the accepted ways. */
function isSecretIn(
  taken: readonly string[],
  given: { readonly client_secret_post: boolean; readonly client_secret_basic: boolean },
): boolean {
  const ways = Object.entries(given).filter(([, isGiven]) => isGiven);
  return ways.length === 1 && ways.every(([way]) => taken.includes(way));
}

/** RFC 6749, 2.3.1: both parts are encoded like form values. */
function isOurBasic(header = ''): boolean {
  const [, given = ''] = /^Basic (.+)$/.exec(header) ?? [];
  const [id, secret] = atob(given).split(':').map(decodeURIComponent);
  return id === CLIENT_ID && secret === CLIENT_SECRET;
}

function optional<K extends string, V>(name: K, value: V | undefined) {
  return value === undefined ? {} : { [name]: value };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
