import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

export const ADMIN_TOKEN = 'the-admin-token-that-is-long-enough';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly json: any;
}

/** An admin listener over a real gateway with the operators `alpha` and `beta` (in maintenance). */
export interface TestAdmin {
  readonly gateway: TestGateway;
  /** Between the gateway and its database. */
  readonly postgres: TcpProxy;
  /** The database past the proxy. */
  readonly databaseUrl: string;
  readonly baseUrl: string;
  /** Every route behind the door. */
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
      const url = new URL(databaseUrl);
      const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
      proxies.push(proxy);
      url.hostname = '127.0.0.1';
      url.port = String(proxy.port);
      return { databaseUrl: url.href, redisUrl };
    },
  });
  const [postgres] = proxies;
  if (postgres === undefined) throw new Error('the gateway went past its proxy');
  const { app, readiness } = gateway.parts.adminServer();
  readiness.started();
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  return {
    gateway,
    postgres,
    databaseUrl: direct,
    baseUrl,
    routes: app.guardedRoutes,
    get: (path) => ask(`${baseUrl}${path}`, { headers }),
    post: (path, body) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      return ask(`${baseUrl}${path}`, { method: 'POST', headers, body: text });
    },
    close: async () => {
      await app.close();
      await gateway.close();
      await postgres.close();
    },
  };
}

export async function ask(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const json = isJson ? JSON.parse(text) : undefined;
  return { status: response.status, headers: response.headers, text, json };
}
