import { Configuration, customFetch } from 'openid-client';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { ClientSecret } from '../../src/people/client-secret.ts';
import { CodeFlow } from '../../src/people/code-flow.ts';
import { type Issuer, IssuerUnavailable } from '../../src/people/issuer.ts';
import { IssuerKeys } from '../../src/people/issuer-keys.ts';
import { partly } from '../support/partly.ts';

const ISSUER = 'https://issuer.example';
const PENDING = { state: 's', nonce: 'n', verifier: 'v' };

/** Somebody returns from the issuer, whose token endpoint then answers like this. */
function finish(answer: () => Promise<Response>) {
  const metadata = {
    issuer: ISSUER,
    token_endpoint: `${ISSUER}/token`,
    jwks_uri: `${ISSUER}/jwks`,
  };
  const configuration = new Configuration(metadata, 'console');
  configuration[customFetch] = answer;
  const issuer = partly<Issuer>({
    settings: { rolesClaim: 'roles' },
    secret: new ClientSecret(undefined),
    configuration: async () => configuration,
  });
  return new CodeFlow(issuer, new IssuerKeys(systemClock)).finish(
    'https://console.example/console/callback?code=c&state=s',
    PENDING,
  );
}

const failing = (error: Error) => () => Promise.reject(error);
const saying =
  (status: number, body: string, type = 'application/json') =>
  async () =>
    new Response(body, { status, headers: { 'content-type': type } });

describe('a sign-in whose issuer', () => {
  it.each([
    ['cannot be reached', failing(new TypeError('fetch failed', { cause: new Error('refused') }))],
    ['does not answer in time', failing(new DOMException('too late', 'TimeoutError'))],
    ['fails behind its proxy', saying(502, '<html>', 'text/html')],
    ['fails and says so', saying(503, '{"error":"temporarily_unavailable"}')],
  ])('%s is no refusal', async (_, answer) => {
    await expect(finish(answer)).rejects.toBeInstanceOf(IssuerUnavailable);
  });

  it.each([
    ['knows the code no more', saying(400, '{"error":"invalid_grant"}')],
    ['says what nobody understands', saying(200, '{}')],
    ['answers a page', saying(200, '<html>', 'text/html')],
  ])('%s is refused', async (_, answer) => {
    expect(await finish(answer)).toMatchObject({ kind: 'refused' });
  });
});
