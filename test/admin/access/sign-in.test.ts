import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PERSON_ROLES } from '../../../src/domain/caller.ts';
import { connect } from '../../support/server.ts';
import { ADMIN_TOKEN, ask } from '../support/admin.ts';
import { Browser, signIn, startPeople, type TestPeople } from '../support/people.ts';

const SESSION = '__Host-wagergate-session';

let people: TestPeople;
let client: Client;
beforeAll(async () => {
  people = await startPeople();
  client = await connect(people.gateway.databaseUrl);
});
afterAll(async () => {
  await client.end();
  await people.close();
});

const me = (browser: Browser, baseUrl = people.baseUrl) => browser.go(`${baseUrl}/admin/me`);

async function signedIn(claims = { email: 'a@x.example', roles: ['admin'] }): Promise<Browser> {
  people.issuer.person = claims;
  const browser = new Browser();
  await signIn(browser, people);
  return browser;
}

async function newLink(role = 'support'): Promise<string> {
  const { json } = await ask(`${people.baseUrl}/admin/console/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: JSON.stringify({ role }),
  });
  return new URL(json.url).hash.slice(1);
}

const use = (browser: Browser, token: string, baseUrl = people.baseUrl) =>
  browser.post(`${baseUrl}/console/link`, `token=${token}`);

it('says on a page that PostgreSQL is away, and what lets somebody in all the same', async () => {
  const token = await newLink();
  people.issuer.person = { email: 'late@x.example', roles: ['support'] };
  await client.query('BEGIN; LOCK TABLE console_links, console_sessions IN ACCESS EXCLUSIVE MODE');
  const byIssuer = signIn(new Browser(), people).then(({ ended }) => ended);
  const answers = await Promise.all([use(new Browser(), token), byIssuer]);
  await client.query('ROLLBACK');
  for (const { status, headers, text } of answers) {
    expect([status, headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(text).toContain('<h1>PostgreSQL does not answer</h1>');
    expect(text).toContain('The admin token does');
  }
  expect((await use(new Browser(), token)).status).toBe(303);
  expect((await use(new Browser(), 'x'.repeat(70_000))).status).toBe(413);
});

describe('signing in through the issuer', () => {
  it.each(PERSON_ROLES)('makes somebody known as %s, at every replica', async (role) => {
    people.issuer.person = { email: `${role}@x.example`, roles: [role] };
    const browser = new Browser();
    const { begun, ended } = await signIn(browser, people, '/console/bets/x?y=1');
    expect(new URL(begun.location).searchParams.get('code_challenge_method')).toBe('S256');
    expect([ended.status, ended.location]).toEqual([303, `${people.baseUrl}/console/bets/x?y=1`]);
    for (const baseUrl of [people.baseUrl, people.otherUrl]) {
      const { status, json } = await me(browser, baseUrl);
      expect([status, json.actor, json.role]).toEqual([200, `${role}@x.example`, role]);
    }
  });

  it('sets a cookie that no script, no other site and no other host can have', async () => {
    people.issuer.person = { roles: 'viewer' };
    const { begun, ended } = await signIn(new Browser(), people);
    const line = ended.headers.getSetCookie().find((one) => one.startsWith(SESSION)) ?? '';
    for (const part of ['; Path=/', '; HttpOnly', '; Secure', '; SameSite=Strict']) {
      expect(line).toContain(part);
    }
    expect(line).not.toContain('Domain');
    expect(begun.headers.get('set-cookie')).toMatch(/^__Host-.*HttpOnly; Secure; SameSite=Lax$/);
    expect(ended.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('takes none that a sibling host planted, whose name has a blank of Unicode before it', async () => {
    const thief = (await signedIn()).cookies.get(SESSION);
    const [victim, stranger] = [
      await signedIn({ email: 'b@x.example', roles: ['admin'] }),
      new Browser(),
    ];
    // Chromium stores and sends it so: not Secure, and for whatever domain and path its host names.
    const planted = `\u00a0${SESSION}=${thief}`;
    const own = `${SESSION}=${victim.cookies.get(SESSION)}`;
    const asks = (cookie: string) =>
      stranger.go(`${people.baseUrl}/admin/me`, { headers: { cookie } });
    expect((await asks(planted)).status).toBe(401);
    expect((await asks(`${planted}; ${own}`)).json).toMatchObject({ actor: 'b@x.example' });
  });

  it('is refused without a role, with another state, in another browser, and a second time', async () => {
    people.issuer.person = { sub: 'nobody', roles: ['root'] };
    expect((await signIn(new Browser(), people)).ended.status).toBe(403);

    people.issuer.person = { roles: ['admin'] };
    const browser = new Browser();
    const { confirmed } = await signIn(browser, people);
    expect((await browser.go(confirmed.location)).status).toBe(401);
    expect((await new Browser().go(confirmed.location)).status).toBe(401);

    const victim = new Browser();
    const begun = await victim.go(`${people.baseUrl}/console/sign-in`);
    const back = new URL((await victim.go(begun.location)).location);
    back.searchParams.set('state', 'of-somebody-else');
    expect((await victim.go(back.href)).status).toBe(401);
    expect((await me(victim)).status).toBe(401);
  });

  it.each([
    'https://evil.example/console',
    '//evil.example/console',
    '/admin/me',
    '/consoles',
    '%5C%5Cevil',
  ])('never sends the browser elsewhere: %s', async (to) => {
    people.issuer.person = { roles: ['viewer'] };
    const { ended } = await signIn(new Browser(), people, to);
    expect(ended.location).toBe(`${people.baseUrl}/console`);
  });

  it('says so where the issuer is away', async () => {
    const browser = new Browser();
    const begun = await browser.go(`${people.baseUrl}/console/sign-in`);
    const confirmed = await browser.go(begun.location);
    people.issuer.isAway = true;
    const { status } = await browser.go(confirmed.location);
    people.issuer.isAway = false;
    expect(status).toBe(503);
  });
});

describe('the audit', () => {
  it('has a row for each who signed in, through the issuer or by a link, and for nobody else (I12)', async () => {
    await client.query('DELETE FROM console_links');
    const rows = async () =>
      (
        await client.query(
          `SELECT actor, role, subject, after FROM audit
            WHERE action = 'person.signed_in' AND actor IN ('audited@x.example', 'token')
            ORDER BY id`,
        )
      ).rows;
    const before = await rows();
    await signedIn({ email: 'audited@x.example', roles: ['viewer'] });
    const token = await newLink('finance');
    await use(new Browser(), token);
    await use(new Browser(), token);
    expect((await rows()).slice(before.length)).toEqual([
      {
        actor: 'audited@x.example',
        role: 'viewer',
        subject: 'audited@x.example',
        after: { by: 'issuer' },
      },
      { actor: 'token', role: 'finance', subject: 'token', after: { by: 'link' } },
    ]);
  });
});

describe('a session', () => {
  it('ends at every replica when somebody signs out, also for a thief of the cookie', async () => {
    const browser = await signedIn();
    const thief = new Browser();
    for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
    expect((await me(thief)).status).toBe(200);
    expect((await browser.post(`${people.baseUrl}/console/sign-out`)).status).toBe(204);
    expect(browser.cookies.has(SESSION)).toBe(false);
    for (const baseUrl of [people.baseUrl, people.otherUrl]) {
      expect((await me(thief, baseUrl)).status).toBe(401);
    }
  });

  it.each(['seen_at', 'expires_at'])('ends by itself: %s', async (column) => {
    const browser = await signedIn({ email: `${column}@x.example`, roles: ['viewer'] });
    await client.query(
      `UPDATE console_sessions SET ${column} = ${column} - interval '13 hours' WHERE actor = $1`,
      [`${column}@x.example`],
    );
    expect((await me(browser)).status).toBe(401);
  });

  it('lasts while a person uses it, not while a page asks by itself', async () => {
    const actor = 'idle@x.example';
    const browser = await signedIn({ email: actor, roles: ['viewer'] });
    const seen = async () => {
      const { rows } = await client.query(
        "SELECT clock_timestamp() - seen_at > interval '5 minutes' AS old FROM console_sessions WHERE actor = $1",
        [actor],
      );
      return rows[0].old;
    };
    const past = `UPDATE console_sessions SET seen_at = seen_at - interval '10 minutes' WHERE actor = $1`;
    await client.query(past, [actor]);
    const headers = { 'x-wagergate-background': '1' };
    expect((await browser.go(`${people.baseUrl}/admin/me`, { headers })).status).toBe(200);
    expect(await seen()).toBe(true);
    expect((await me(browser)).status).toBe(200);
    expect(await seen()).toBe(false);
  });

  it.each<[string, Record<string, string>]>([
    ['a foreign origin', { origin: 'https://evil.example' }],
    [
      'a foreign origin that claims to be the same',
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    ],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a neighbour', { 'sec-fetch-site': 'same-site' }],
    ['no page at all', {}],
    ['an opaque origin', { origin: 'null' }],
  ])('changes nothing for %s', async (_, headers) => {
    const browser = await signedIn();
    for (const path of ['/admin/reload', '/console/sign-out']) {
      const answer = await browser.go(`${people.baseUrl}${path}`, { method: 'POST', headers });
      expect([answer.status, answer.json.code]).toEqual([403, 9]);
    }
    expect((await me(browser)).status).toBe(200);
    expect((await browser.post(`${people.baseUrl}/admin/reload`)).status).toBe(200);
  });

  it('does not make up for a bearer token that is wrong', async () => {
    const browser = await signedIn();
    const headers = { authorization: 'Bearer wrong' };
    expect((await browser.go(`${people.baseUrl}/admin/me`, { headers })).status).toBe(401);
  });
});

describe('a sign-in link', () => {
  it('signs in once, however many come with it at whatever replica', async () => {
    const token = await newLink();
    const browsers = Array.from({ length: 8 }, () => new Browser());
    const answers = await Promise.all(
      browsers.map((browser, at) =>
        use(browser, token, at % 2 === 0 ? people.baseUrl : people.otherUrl),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(401)]);
    const known = await Promise.all(browsers.map((browser) => me(browser)));
    expect(known.filter(({ status }) => status === 200).map(({ json }) => json)).toEqual([
      expect.objectContaining({ actor: 'token', role: 'support' }),
    ]);
    expect((await use(new Browser(), token)).status).toBe(401);
  });

  it('is good for 60 s', async () => {
    const token = await newLink();
    const { rows } = await client.query(
      'SELECT extract(epoch FROM max(expires_at) - clock_timestamp())::float8 AS s FROM console_links',
    );
    expect(rows[0].s).toBeGreaterThan(0);
    expect(rows[0].s).toBeLessThanOrEqual(60);
    await client.query("UPDATE console_links SET expires_at = expires_at - interval '61 s'");
    expect((await use(new Browser(), token)).status).toBe(401);
  });

  it('is not used up by merely fetching it', async () => {
    const token = await newLink();
    const { status, text, headers } = await new Browser().go(`${people.baseUrl}/console/link`);
    expect(status).toBe(200);
    expect(text).toContain('<script src="/console/link.js">');
    expect(headers.get('content-security-policy')).toContain("script-src 'self';");
    const browser = new Browser();
    expect((await use(browser, token)).status).toBe(303);
  });

  it('is not accepted from another site’s page', async () => {
    const token = await newLink();
    const headers = { origin: 'https://evil.example' };
    const body = `token=${token}`;
    const url = `${people.baseUrl}/console/link`;
    expect((await new Browser().go(url, { method: 'POST', headers, body })).status).toBe(403);
    expect((await use(new Browser(), token)).status).toBe(303);
  });
});

describe('attempts to sign in', () => {
  it('are bounded, and bearer tokens are not bounded with them', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => use(new Browser(), 'A'.repeat(43), people.otherUrl)),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await people.bearer(ADMIN_TOKEN)).status).toBe(200);
  });
});
