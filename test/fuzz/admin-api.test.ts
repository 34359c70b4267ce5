import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Client } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, startAdmin, type TestAdmin } from '../admin/support/admin.ts';
import { effort } from './support/effort.ts';
import { mutated, oddMember } from './support/mutations.ts';

/** Members and parameters of any route, each with a value that may be valid. */
const FIELDS = {
  operator: 'alpha',
  state: 'dead',
  operation: 'rollback',
  class: 'money',
  by: 'a person',
  reason: 'because',
  generation: 1,
  cursor: '1',
  from: '2026-01-01',
  to: '2026-12-31',
  userId: 'x',
  operatorUser: 'x',
  transactionId: 't1',
  amount: '10',
  actor: 'a person',
  action: 'reload',
  kind: 'missing_here',
  resolved: 'true',
  columns: 'bet=transactionId',
  role: 'viewer',
  templates: ['1'],
  limit: 1,
} as const;

/** Values for the variable parts of paths, by name: something that exists, or might. */
const PLACES: Readonly<Record<string, string>> = {
  transactionId: 't1',
  operator: 'alpha',
  day: '2026-11-20',
  userId: 'x',
};

let admin: TestAdmin;
let client: Client;
beforeAll(async () => {
  admin = await startAdmin();
  client = new Client(admin.baseUrl);
});
afterAll(async () => {
  await client.close();
  await admin.close();
});

/** Every route, with its variable parts filled in. */
function allRoutes(): readonly { readonly method: 'GET' | 'POST'; readonly path: string }[] {
  const routes = admin.routes.flatMap(({ method, url }) => {
    if (method !== 'GET' && method !== 'POST') return [];
    const path = url.replaceAll(/:(\w+)/g, (_, name: string) => PLACES[name] ?? idIn(url));
    return [{ method, path } as const];
  });
  return [...routes, { method: 'GET', path: '/admin/nothing' }];
}

function idIn(url: string): string {
  return url.startsWith('/admin/operators') ? 'alpha' : '1';
}

/** Expects an answer in the form of all errors, and never a fault of the gateway. */
async function expectProper(method: 'GET' | 'POST', path: string, body?: Buffer | string) {
  // Not `fetch`, which would normalise the path before sending it.
  const answer = await client.request({
    method,
    path,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: body ?? null,
  });
  const text = await answer.body.text();
  // Only a few lists are compared at the same time; everything else must have room.
  const isBusy = answer.statusCode === 503 && path.startsWith('/admin/reconciliations');
  if (!isBusy) expect(answer.statusCode, `${method} ${path} ${text}`).toBeLessThan(500);
  if (answer.statusCode < 400) return;
  expect(JSON.parse(text)).toEqual({ code: expect.any(Number), message: expect.any(String) });
}

const routes = fc.nat().map((at) => {
  const all = allRoutes();
  return all[at % all.length] ?? { method: 'GET' as const, path: '/admin/nothing' };
});

describe('a request of somebody with the token', () => {
  it('is asked of every route that there is', () => {
    expect(allRoutes().length).toBeGreaterThan(30);
  });

  it('is answered or refused, whichever member or parameter is odd', async () => {
    await fc.assert(
      fc.asyncProperty(
        routes,
        oddMember(FIELDS),
        fc.subarray(Object.keys(FIELDS)),
        async (route, odd, kept) => {
          const members = new Set([...kept, odd.name]);
          const all = Object.entries<unknown>(JSON.parse(odd.body.replaceAll('\\u0000', '')));
          const some = all.filter(([name]) => members.has(name));
          const query = some.map(
            ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(textOf(value))}`,
          );
          if (route.method === 'POST') await expectProper('POST', route.path, odd.body);
          await expectProper(route.method, `${route.path}?${query.join('&').slice(0, 4_000)}`);
        },
      ),
      effort(80),
    );
  });

  it('is answered or refused, whatever its bytes are', async () => {
    const bodies = [JSON.stringify(FIELDS), '{"operator":"alpha","state":"dead"}', '{}'];
    await fc.assert(
      fc.asyncProperty(routes, mutated(bodies), async ({ path }, body) => {
        await expectProper('POST', path, body);
      }),
      effort(60),
    );
  });

  it('is answered or refused, whatever the bytes of a list of bets are', async () => {
    const lists = [
      'transactionId,amount,currency\nt1,10,USD\n',
      '{"transactionId":"t1","amount":"10","currency":"USD"}\n',
      gzipSync('transactionId,amount,currency\nt1,10,USD\n'),
    ];
    const which = 'operator=alpha&from=2026-11-20&to=2026-11-21';
    await fc.assert(
      fc.asyncProperty(mutated(lists), async (body) => {
        await expectProper('POST', `/admin/reconciliations?${which}`, body);
      }),
      effort(60),
    );
  });

  it('is answered or refused, whatever its path is', async () => {
    const piece = fc.oneof(
      fc.constantFrom('%', '%zz', '%00', '%2f', '%ff', '..', '%2e%2e', '?', '&', '=', '//', ';'),
      fc.constantFrom('1', '-1', '9'.repeat(30), '0x1', '1e3', '%E2%80%AE', 'x'.repeat(700)),
      fc.string({ maxLength: 5 }).map(encodeText),
    );
    await fc.assert(
      fc.asyncProperty(routes, fc.nat(), piece, async ({ method, path }, at, put) => {
        const place = '/admin/'.length + (at % (path.length - '/admin/'.length + 1));
        await expectProper(method, path.slice(0, place) + put + path.slice(place + 1));
        await expectProper('GET', `/admin/deliveries?cursor=${put}`);
        await expectProper('GET', `/admin/bets/${put}`);
      }),
      effort(50),
    );
  });
});

function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
}

function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
