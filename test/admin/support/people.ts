import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { CLIENT_ID, CLIENT_SECRET, type StubIssuer, startIssuer } from '../../support/issuer.ts';
import { ADMIN_TOKEN, ask, type Reply } from './admin.ts';

export interface TestPeople {
  readonly issuer: StubIssuer;
  readonly gateway: TestGateway;
  /** The internal listener. */
  readonly baseUrl: string;
  /** The internal listener of a second replica on the same database. */
  readonly otherUrl: string;
  /** `METHOD /path` and its right, for every route that needs a sign-in. */
  readonly routes: readonly {
    readonly method: string;
    readonly url: string;
    readonly right: string;
  }[];
  bearer(token: string, route?: string): Promise<Reply>;
  close(): Promise<void>;
}

/** Starts two internal listeners that trust an issuer. */
export async function startPeople(): Promise<TestPeople> {
  const issuer = await startIssuer();
  const gateway = await startTestGateway({
    env: {
      ADMIN_TOKEN,
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
    },
  });
  const other = await gateway.replica();
  const listeners = [gateway, other].map(({ parts }) => parts.adminServer());
  const [baseUrl = '', otherUrl = ''] = await Promise.all(
    listeners.map(({ app }) => app.listen({ host: '127.0.0.1', port: 0 })),
  );
  return {
    issuer,
    gateway,
    baseUrl,
    otherUrl,
    routes: listeners[0]?.app.guardedRoutes ?? [],
    bearer: (token, route = 'GET /admin/me') => {
      const [method = '', path = ''] = route.split(' ');
      return ask(`${baseUrl}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
    },
    close: async () => {
      await Promise.all(listeners.map(({ app }) => app.close()));
      await gateway.close();
      await issuer.close();
    },
  };
}

/** A browser reduced to cookies and redirects: it keeps cookies and does not follow redirects. */
export class Browser {
  readonly cookies = new Map<string, string>();

  async go(url: string, init: RequestInit = {}): Promise<Reply & { readonly location: string }> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: {
        ...(cookie === '' ? {} : { cookie }),
        ...Object.fromEntries(new Headers(init.headers)),
      },
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
      location: new URL(response.headers.get('location') ?? url, url).href,
    };
  }

  /** Posts as a page of this listener does. */
  async post(url: string, body: string | undefined = undefined) {
    const headers = { origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' };
    return await this.go(url, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/Max-Age=0/.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** Signs in as the issuer's current person, up to the page after the sign-in. */
export async function signIn(browser: Browser, { baseUrl }: Pick<TestPeople, 'baseUrl'>, to = '') {
  const begun = await browser.go(`${baseUrl}/console/sign-in${to === '' ? '' : `?to=${to}`}`);
  const confirmed = await browser.go(begun.location);
  return { begun, confirmed, ended: await browser.go(confirmed.location) };
}
