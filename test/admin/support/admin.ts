import type { Client } from 'pg';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { connect } from '../../support/server.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

export const ADMIN_TOKEN = 'the-admin-token-that-is-long-enough';

/** The members of an answer: those that tests use have their types, all others are only compared. */
export interface Members {
  readonly [name: string]: unknown;
  readonly id: string;
  readonly day: string;
  readonly message: string;
  readonly url: string;
  readonly items: readonly Members[];
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** @throws SyntaxError if the answer is not JSON */
  readonly json: Members;
}

/** An admin listener over a real gateway with the operators `alpha` and `beta` (in maintenance). */
export interface TestAdmin {
  readonly gateway: TestGateway;
  /** The proxy between the gateway and its database. */
  readonly postgres: TcpProxy;
  /** The database without the proxy. */
  readonly databaseUrl: string;
  /** A connection to it, closed together with the listener. */
  readonly client: Client;
  readonly baseUrl: string;
  /** Every route that needs a sign-in. */
  readonly routes: readonly { readonly method: string; readonly url: string }[];
  get(path: string): Promise<Reply>;
  post(path: string, body?: unknown): Promise<Reply>;
  close(): Promise<void>;
}

export async function startAdmin(): Promise<TestAdmin> {
  const proxies: TcpProxy[] = [];
  let direct = '';
  const gateway = await startTestGateway({
    operators: { alpha: {}, beta: { status: 'maintenance' } },
    env: { ADMIN_TOKEN },
    through: async ({ databaseUrl, redisUrl }) => {
      direct = databaseUrl;
      const proxy = await startTcpProxy(databaseUrl);
      proxies.push(proxy);
      return { databaseUrl: proxy.through(databaseUrl), redisUrl };
    },
  });
  const [postgres] = proxies;
  if (postgres === undefined) throw new Error('the gateway went past its proxy');
  const { app, readiness } = gateway.parts.adminServer();
  readiness.started();
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const client = await connect(direct);
  return {
    gateway,
    postgres,
    databaseUrl: direct,
    client,
    baseUrl,
    routes: app.guardedRoutes,
    get: (path) => ask(`${baseUrl}${path}`, { headers }),
    post: (path, body) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return ask(`${baseUrl}${path}`, { method: 'POST', headers, body: text });
    },
    close: async () => {
      await client.end();
      await app.close();
      await gateway.close();
      await postgres.close();
    },
  };
}

export async function ask(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, init);
  const text = await response.text();
  const { status, headers } = response;
  return {
    status,
    headers,
    text,
    get json(): Members {
      return JSON.parse(text);
    },
  };
}
