import fc from 'fast-check';
import { Client } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, startAdmin, type TestAdmin } from '../admin/admin.ts';
import { effort } from './support/effort.ts';
import { mutated, oddMember } from './support/mutations.ts';

/** Members and parameters that some route takes, each with something that might be good. */
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
} as const;

const PATHS = [
  'GET /admin/operators',
  'GET /admin/config',
  'GET /admin/bets/t1',
  'GET /admin/deliveries',
  'GET /admin/nothing',
  'POST /admin/deliveries/1/retry',
  'POST /admin/deliveries/retry',
  'POST /admin/deliveries/1/resolve',
  'POST /admin/operators/alpha/breaker',
  'POST /admin/operators/alpha/release',
];

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

/** Answered, in the form of all errors, and never as a fault of ours. */
async function expectProper(method: 'GET' | 'POST', path: string, body?: Buffer | string) {
  // Not `fetch`: it would make the path proper before it is sent.
  const answer = await client.request({
    method,
    path,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: body ?? null,
  });
  const text = await answer.body.text();
  expect(answer.statusCode, `${method} ${path} ${text}`).toBeLessThan(500);
  if (answer.statusCode < 400) return;
  expect(JSON.parse(text)).toEqual({ code: expect.any(Number), message: expect.any(String) });
}

const routes = fc.constantFrom(...PATHS).map((route) => {
  const [method = '', path = ''] = route.split(' ');
  return { method: method === 'GET' ? ('GET' as const) : ('POST' as const), path };
});

describe('a request of somebody with the token', () => {
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
      effort(150),
    );
  });

  it('is answered or refused, whatever its bytes are', async () => {
    const bodies = [JSON.stringify(FIELDS), '{"operator":"alpha","state":"dead"}', '{}'];
    await fc.assert(
      fc.asyncProperty(routes, mutated(bodies), async ({ path }, body) => {
        await expectProper('POST', path, body);
      }),
      effort(100),
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
      effort(150),
    );
  });
});

function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
}

function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
