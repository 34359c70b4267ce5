import { createHmac, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mayDo, PERSON_ROLES, type Right } from '../../src/domain/caller.ts';
import { CLIENT_ID } from '../support/issuer.ts';
import { ADMIN_TOKEN } from './support/admin.ts';
import { startPeople, type TestPeople } from './support/people.ts';

let people: TestPeople;
beforeAll(async () => {
  people = await startPeople();
});
afterAll(() => people.close());

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const inS = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

/** By the roles of docs/reference.md, People. */
const ROUTES_BY_RIGHT: Readonly<Record<Right, readonly string[]>> = {
  read: [
    'GET /admin/audit',
    'GET /admin/audit/export',
    'GET /admin/bets',
    'GET /admin/bets/:transactionId',
    'GET /admin/books/days',
    'GET /admin/books/statements/:operator/:day',
    'GET /admin/config',
    'GET /admin/config/preview',
    'GET /admin/deliveries',
    'GET /admin/deliveries/count',
    'GET /admin/me',
    'GET /admin/operators',
    'GET /admin/operators/:id',
    'GET /admin/operators/:id/certificate',
    'GET /admin/reconciliations',
    'GET /admin/reconciliations/:id',
    'GET /admin/reconciliations/:id/differences',
  ],
  personal: [
    'GET /admin/players',
    'GET /admin/players/:userId',
    'POST /admin/players/:userId/export',
  ],
  operate: [
    'POST /admin/bets/:transactionId/resolve',
    'POST /admin/deliveries/:id/resolve',
    'POST /admin/deliveries/:id/retry',
    'POST /admin/deliveries/retry',
    'POST /admin/operators/:id/deliveries/hold',
    'POST /admin/operators/:id/deliveries/resume',
    'POST /admin/operators/:id/probe',
    'POST /admin/players/:userId/sessions/revoke',
  ],
  books: [
    'POST /admin/reconciliations',
    'POST /admin/reconciliations/:id/differences/:difference/resolve',
  ],
  administer: [
    'POST /admin/console/links',
    'POST /admin/operators/:id/breaker',
    'POST /admin/operators/:id/release',
    'POST /admin/operators/:id/templates/assign',
    'POST /admin/players/:userId/forget',
    'POST /admin/reload',
  ],
};

describe('every route of /admin', () => {
  const pathOf = (url: string) => url.replaceAll(/:\w+/g, 'nothing');

  it('is closed to strangers and to every role without its right, and to no other', async () => {
    expect(people.routes.length).toBeGreaterThan(10);
    for (const { method, url, right } of people.routes) {
      const path = `${people.baseUrl}${pathOf(url)}`;
      expect([url, (await fetch(path, { method })).status]).toEqual([url, 401]);
      for (const role of PERSON_ROLES) {
        const authorization = `Bearer ${await people.issuer.token({ roles: [role] })}`;
        // A body that no route accepts: the check of the caller must come first.
        const body = method === 'POST' ? { body: '[]' } : {};
        const answer = await fetch(path, { method, headers: { authorization }, ...body });
        const [status, text] = [answer.status, await answer.text()];
        const told = `${method} ${url} as ${role}: ${status}`;
        if (mayDo({ role }, right as Right)) expect(told).not.toMatch(/40[13]$/);
        else {
          expect(told).toBe(`${method} ${url} as ${role}: 403`);
          if (method !== 'HEAD') expect(JSON.parse(text)).toMatchObject({ code: 9 });
        }
      }
    }
  });

  it('is in the contract', () => {
    const contract = readFileSync('docs/reference.md', 'utf8');
    const named = people.routes.filter(({ method }) => method !== 'HEAD');
    const isMissing = (route: string) => !new RegExp(`\`${route}[ ?\`]`).test(contract);
    expect(named.map(({ method, url }) => `${method} ${url}`).filter(isMissing)).toEqual([]);
  });

  it('asks of each what the contract says: a route that is not named here has to be', () => {
    const routes = people.routes.filter(({ method }) => method !== 'HEAD');
    const byRight = Map.groupBy(routes, ({ right }) => right);
    const named = [...byRight].map(([right, of]) => [
      right,
      of.map(({ method, url }) => `${method} ${url}`).toSorted(),
    ]);
    expect(Object.fromEntries(named)).toEqual(ROUTES_BY_RIGHT);
  });

  it('asks of HEAD what it asks of GET', () => {
    const rightOf = (wanted: string) =>
      people.routes.flatMap(({ method, url, right }) => (method === wanted ? [[url, right]] : []));
    expect(rightOf('HEAD')).toEqual(rightOf('GET'));
  });
});

describe('a token of the issuer', () => {
  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('is taken with %s', async (alg) => {
    const token = await people.issuer.token({ roles: 'viewer', email: 'v@x.example' }, { alg });
    const { status, json } = await people.bearer(token);
    expect([status, json.actor, json.role]).toEqual([200, 'v@x.example', 'viewer']);
  });

  it.each([
    ['its highest known role', { roles: ['viewer', 'root', 'support'] }, 'support'],
    ['a role as text', { roles: 'finance' }, 'finance'],
  ])('counts with %s', async (_, claims, role) => {
    expect((await people.bearer(await people.issuer.token(claims))).json.role).toBe(role);
  });

  it('is its bearer’s, though an email that they chose looks like a colleague’s: the audit has their `sub` (I12)', async () => {
    for (const email of ['v@x.example\u200b', '\u202eelpmaxe.x@v', 'v@x.example\u00a0']) {
      const token = await people.issuer.token({ roles: 'viewer', email, sub: 'user-7' });
      expect((await people.bearer(token)).json.actor).toBe('user-7');
    }
  });

  it.each([
    {},
    { roles: [] },
    { roles: ['root'] },
    { roles: { viewer: true } },
    { roles: 'ADMIN' },
  ])('without a role that is known here is 403: %j', async (claims) => {
    const { status, json } = await people.bearer(await people.issuer.token(claims));
    expect([status, json.code]).toEqual([403, 9]);
  });

  it('is good for 60 s after its end and before its beginning, and no longer', async () => {
    const { token } = people.issuer;
    const admin = { roles: 'admin' };
    for (const good of [{ exp: inS(-50) }, { nbf: inS(50) }]) {
      expect((await people.bearer(await token({ ...admin, ...good }))).status).toBe(200);
    }
    for (const bad of [{ exp: inS(-70) }, { nbf: inS(70) }, { exp: undefined }]) {
      expect((await people.bearer(await token({ ...admin, ...bad }))).status).toBe(401);
    }
  });

  it('of another issuer, for another audience or with another key is 401', async () => {
    const { token } = people.issuer;
    const admin = { roles: 'admin' };
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = await crypto.subtle.importKey(
      'pkcs8',
      privateKey.export({ type: 'pkcs8', format: 'der' }),
      { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
      false,
      ['sign'],
    );
    const forged = [
      await token({ ...admin, iss: 'https://other.example' }),
      await token({ ...admin, aud: 'another-client' }),
      await token({ ...admin, aud: undefined }),
      await token(admin, { key }),
      `${(await token(admin)).slice(0, -6)}AAAAAA`,
      'x.y.z',
    ];
    for (const one of forged) expect((await people.bearer(one)).status).toBe(401);
  });

  it.each(['none', 'None', 'HS256'])(
    'that says alg %s is 401, whatever it is signed with',
    async (alg) => {
      const claims = {
        iss: people.issuer.url,
        aud: CLIENT_ID,
        sub: 'x',
        exp: inS(300),
        roles: 'admin',
      };
      const publicKey = people.issuer.publicKey();
      for (const secret of [JSON.stringify(publicKey), String(publicKey.n), '']) {
        for (const header of [{ alg }, { alg, kid: publicKey.kid }]) {
          const signed = `${base64(header)}.${base64(claims)}`;
          const mac = createHmac('sha256', secret).update(signed).digest('base64url');
          for (const signature of [mac, '']) {
            expect((await people.bearer(`${signed}.${signature}`)).status).toBe(401);
          }
        }
      }
    },
  );

  it('follows the issuer to new keys at once, while strangers cannot make it ask without end', async () => {
    const { issuer } = people;
    const old = await issuer.token({ roles: 'viewer' });
    expect((await people.bearer(old)).status).toBe(200);
    await issuer.rotate();
    expect((await people.bearer(await issuer.token({ roles: 'viewer' }))).status).toBe(200);
    expect((await people.bearer(old)).status).toBe(401);
    const before = issuer.asked.get('/jwks') ?? 0;
    for (let at = 0; at < 40; at += 1) {
      const stranger = await issuer.token({ roles: 'admin' }, { kid: `made-up-${at}` });
      expect((await people.bearer(stranger)).status).toBe(401);
    }
    expect((issuer.asked.get('/jwks') ?? 0) - before).toBeLessThan(12);
    expect((await people.bearer(await issuer.token({ roles: 'viewer' }))).status).toBe(200);
  });

  it('is believed by the last keys while the issuer is away, and so is the static token', async () => {
    const token = await people.issuer.token({ roles: 'viewer' });
    expect((await people.bearer(token)).status).toBe(200);
    people.issuer.isAway = true;
    try {
      expect((await people.bearer(token)).status).toBe(200);
      expect((await people.bearer(ADMIN_TOKEN)).json.actor).toBe('token');
    } finally {
      people.issuer.isAway = false;
    }
  });
});
