import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Client } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser, signIn, startPeople, type TestPeople } from '../admin/support/people.ts';
import { effort } from './support/effort.ts';
import { mutated } from './support/mutations.ts';

const SESSION = '__Host-wagergate-session';
const PENDING = '__Host-wagergate-sign-in';

/** Frequent sign-ins from one address have to wait, so they come from many, if the system has them. */
const ADDRESSES = process.platform === 'linux' ? 50 : 1;

let people: TestPeople;
let clients: readonly Client[];
/** A sign-in that has begun: the browser's cookie, and the state given to the issuer. */
let begun: { readonly cookie: string; readonly state: string };
beforeAll(async () => {
  people = await startPeople();
  people.issuer.person = { email: 'a@x.example', roles: ['admin'] };
  clients = Array.from(
    { length: ADDRESSES },
    (_, at) =>
      new Client(people.baseUrl, ADDRESSES === 1 ? {} : { localAddress: `127.0.1.${at + 1}` }),
  );
  const browser = new Browser();
  const { location } = await browser.go(`${people.baseUrl}/console/sign-in`);
  begun = {
    cookie: browser.cookies.get(PENDING) ?? '',
    state: new URL(location).searchParams.get('state') ?? '',
  };
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await people.close();
});

interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

let asked = 0;

/** Answered or refused without a fault of the gateway, with nobody signed in or redirected elsewhere. */
async function expectNobody({ method, path, headers = {}, body }: Asked): Promise<void> {
  asked += 1;
  const client = clients[asked % clients.length];
  if (client === undefined) throw new Error('there are clients');
  // Not `fetch`, which would normalise path and cookies before sending them.
  const answer = await client.request({ method, path, headers, body: body ?? null });
  const text = await answer.body.text();
  const told = `${method} ${path} ${answer.statusCode} ${text.slice(0, 200)}`;
  expect(answer.statusCode, told).toBeLessThan(500);
  if (answer.statusCode === 429) {
    await sleep(1_000 * Number(answer.headers['retry-after']));
    return await expectNobody({ method, path, headers, ...(body === undefined ? {} : { body }) });
  }
  const cookies = [answer.headers['set-cookie'] ?? []].flat().join('\n');
  expect(cookies, told).not.toMatch(new RegExp(`${SESSION}=[^;]`));
  const { location } = answer.headers;
  if (location === undefined) return;
  const { origin } = new URL(String(location), people.baseUrl);
  expect([people.baseUrl, people.issuer.url], told).toContain(origin);
}

/** Only bytes that a header can contain; others never leave a client. */
const latin1 = (bytes: Buffer) => bytes.toString('latin1').replaceAll(/[^\x20-\x7e\x80-\xff]/g, '');
const inPath = (bytes: Buffer) => bytes.toString('latin1').replaceAll(/[^\x21-\x7e]/g, '');
const base64 = (text: string) => Buffer.from(text).toString('base64url');

describe('signing in at the console', () => {
  it('signs nobody in by a return that the issuer did not send, whatever its query', async () => {
    const queries = [
      `code=made-up&state=${begun.state}`,
      `code=made-up&state=${begun.state}&iss=${encodeURIComponent(people.issuer.url)}`,
      `error=access_denied&error_description=no&state=${begun.state}`,
      `code[]=x&state=${begun.state}&state=${begun.state}`,
    ];
    await fc.assert(
      fc.asyncProperty(mutated(queries), async (query) => {
        const headers = { cookie: `${PENDING}=${begun.cookie}` };
        await expectNobody({
          method: 'GET',
          path: `/console/callback?${inPath(query)}`,
          headers,
        });
      }),
      effort(50),
    );
  });

  it('signs nobody in by any cookie of a sign-in that was begun', async () => {
    const kept = Buffer.from(begun.cookie, 'base64url').toString();
    const cookies = [
      `${PENDING}=${begun.cookie}`,
      `${PENDING}=${begun.cookie}; ${PENDING}=${begun.cookie}`,
      `${PENDING}=${base64('{}')}; ${SESSION}=x`,
      `${PENDING}=${base64('[null]')}`,
    ];
    const odd = fc.oneof(
      mutated(cookies).map(latin1),
      mutated([kept]).map((bytes) => `${PENDING}=${bytes.toString('base64url')}`),
    );
    await fc.assert(
      fc.asyncProperty(odd, async (cookie) => {
        const path = `/console/callback?code=made-up&state=${begun.state}`;
        await expectNobody({ method: 'GET', path, headers: { cookie } });
        await expectNobody({ method: 'GET', path: '/admin/me', headers: { cookie } });
      }),
      effort(100),
    );
  });

  it('signs nobody in by a link that was not made, from whatever page it is posted', async () => {
    const forms = [
      'token=made-up',
      'token=a&token=b',
      '{"token":"made-up"}',
      `token=${'a'.repeat(43)}`,
    ];
    const own = people.baseUrl;
    const origins = [own, 'null', 'https://evil.example', `${own}.evil.example`, own.toUpperCase()];
    await fc.assert(
      fc.asyncProperty(
        mutated(forms),
        fc.constantFrom(...origins),
        fc.constantFrom('same-origin', 'same-site', 'cross-site', 'none', ''),
        fc.constantFrom('application/x-www-form-urlencoded', 'application/json', 'multipart/x', ''),
        async (body, origin, site, type) => {
          const headers = { origin, 'sec-fetch-site': site, 'content-type': type };
          await expectNobody({ method: 'POST', path: '/console/link', headers, body });
          await expectNobody({ method: 'POST', path: '/console/sign-out', headers, body });
        },
      ),
      effort(60),
    );
  });

  it('still works for a real person', async () => {
    const browser = new Browser();
    await signIn(browser, people);
    expect((await browser.go(`${people.baseUrl}/admin/me`)).json).toMatchObject({ role: 'admin' });
  });
});
