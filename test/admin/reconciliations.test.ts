import { once } from 'node:events';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  around,
  csvOf,
  HEADER,
  type Listed,
  listOf,
} from '../books/reconciliation/support/lists.ts';
import { placedBet, type TestBet } from '../support/bet.ts';
import { ask, type Reply } from './support/admin.ts';
import { startPeople, type TestPeople } from './support/people.ts';

let people: TestPeople;
let bets: TestBet[];
beforeAll(async () => {
  people = await startPeople();
  const place = () => placedBet(people.gateway, { amount: '10' });
  bets = await Promise.all([place(), place(), place()]);
});
afterAll(() => people.close());

const DAYS = `from=${around(-1)}&to=${around(1)}`;
const UPLOAD = `/admin/reconciliations?operator=alpha&${DAYS}`;
const honest = () => listOf(people.gateway.wallet('alpha'));
const without = (bet: TestBet | undefined) =>
  csvOf(honest().filter(({ transactionId }) => transactionId !== bet?.transactionId));

const asRole = async (role: string) => ({
  authorization: `Bearer ${await people.issuer.token({ roles: [role], email: `${role}@x.example` })}`,
});

async function call(role: string, method: string, path: string, body?: string | Buffer) {
  const headers = await asRole(role);
  return await ask(`${people.baseUrl}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
}
const get = (path: string) => call('viewer', 'GET', path);

/** Sends a list, and waits until it is compared or has failed. */
async function compared(list: string | Buffer, query = UPLOAD): Promise<Reply> {
  const sent = await call('finance', 'POST', query, list);
  expect(sent.status).toBe(202);
  expect(Object.keys(sent.json)).toEqual(['id']);
  return await vi.waitFor(async () => {
    const run = await get(`/admin/reconciliations/${sent.json.id}`);
    expect(['done', 'failed']).toContain(run.json.state);
    return run;
  }, 10_000);
}

/** The beginning of a list that is still being sent. */
async function beginUpload(text: string): Promise<ClientRequest> {
  const headers = { ...(await asRole('finance')), 'transfer-encoding': 'chunked' };
  const sending = httpRequest(`${people.baseUrl}${UPLOAD}`, { method: 'POST', headers });
  sending.on('error', () => undefined);
  sending.write(text);
  return sending;
}

describe('POST /admin/reconciliations', () => {
  it('takes a list as it comes, and answers with the id of what compares it', async () => {
    const { json } = await compared(csvOf(honest()));
    expect(json).toMatchObject({
      operator: 'alpha',
      from: around(-1),
      to: around(1),
      timeZone: 'UTC',
      state: 'done',
      why: null,
      actor: 'finance@x.example',
      columns: HEADER.split(','),
      progress: { lines: 4, bytes: csvOf(honest()).length },
      counts: { agree: 3, missing_there: 0, unreadable: 0 },
      new: 0,
    });
  });

  it('says of a list that cannot be compared why, and shows no differences of it', async () => {
    const { json } = await compared('a,b\n1,2\n');
    expect(json).toMatchObject({ state: 'failed', counts: null, open: null });
    expect(json.why).toMatch(/no column "transactionId"/);
    const differences = await get(`/admin/reconciliations/${json.id}/differences`);
    expect(differences).toMatchObject({ status: 409, json: { code: 8 } });
    expect((await compared('')).json.why).toMatch(/empty/);
  });

  it.each([
    ['operator', `from=2026-11-20&to=2026-11-20`],
    ['from', 'operator=alpha&from=yesterday&to=2026-11-20'],
    ['to', 'operator=alpha&from=2026-11-20&to=2026-11-19'],
    ['columns', 'operator=alpha&from=2026-11-20&to=2026-11-20&columns=x'],
    ['colums', 'operator=alpha&from=2026-11-20&to=2026-11-20&colums=x'],
  ])('refuses a query whose %s is wrong', async (field, query) => {
    const { status, json } = await call('finance', 'POST', `/admin/reconciliations?${query}`, 'x');
    expect([status, json.code]).toEqual([400, 5]);
    expect(json.message).toContain(field);
  });

  it('shows no differences before it has compared, and puts down a list whose sender goes away', async () => {
    const sending = await beginUpload(csvOf(honest()));
    const newest = async () => (await get('/admin/reconciliations?operator=alpha')).json.items[0];
    await vi.waitFor(async () => expect((await newest())?.state).toBe('reading'), 10_000);
    // An empty list would look like agreement.
    const differences = await get(`/admin/reconciliations/${(await newest())?.id}/differences`);
    expect(differences).toMatchObject({ status: 409, json: { code: 8 } });
    sending.destroy();
    await vi.waitFor(async () => expect((await newest())?.state).toBe('failed'), 10_000);
    const why = expect.stringContaining('broke off');
    expect(await newest()).toMatchObject({ why, counts: null });
  });

  it('accepts a few at a time and asks the others to try again', async () => {
    const reading = async () => {
      const { items } = (await get('/admin/reconciliations')).json;
      return items.filter(({ state }) => state === 'reading').length;
    };
    const slow: ClientRequest[] = [];
    const begin = async (at: number) => {
      slow[at] = await beginUpload(`${HEADER}\n`);
    };
    for (const at of [0, 1, 2, 3]) {
      await begin(at);
      // Refused while the upload of the previous test is still ending.
      slow[at]?.once('response', () => void begin(at));
      await vi.waitFor(async () => expect(await reading()).toBe(at + 1), 10_000);
      slow[at]?.removeAllListeners('response');
    }
    expect((await call('finance', 'POST', UPLOAD, csvOf(honest()))).status).toBe(503);
    for (const one of slow) one.end(csvOf(honest()).split('\n').slice(1).join('\n'));
    await Promise.all(slow.map((one) => once(one, 'response')));
    const again = async () =>
      expect((await call('finance', 'POST', UPLOAD, csvOf(honest()))).status).toBe(202);
    await vi.waitFor(again, 10_000);
  });

  it('answers 413 to a list larger than it may be', async () => {
    const { configFolder } = people.gateway;
    const { readFile, writeFile } = await import('node:fs/promises');
    const file = `${configFolder}/gateway.yaml`;
    const before = await readFile(file, 'utf8');
    await writeFile(file, `${before}\nbooks: { reconciliationMebibytesMax: 1 }\n`);
    await people.gateway.reload();
    try {
      const line = 'nobody,USD,1,0,placed\n';
      const list = gzipSync(`${HEADER}\n${line.repeat(60_000)}`);
      const { status, json } = await call('finance', 'POST', UPLOAD, list);
      expect([status, json.code]).toEqual([413, 5]);
    } finally {
      await writeFile(file, before);
      await people.gateway.reload();
    }
  });
});

describe('differences, for people', () => {
  it('come in pages, by kind, and are resolved with a reason, once (I12)', async () => {
    const strangers = Array.from(
      { length: 150 },
      (_, at): Listed => ({
        ...(honest()[0] as Listed),
        transactionId: `stranger-${String(at).padStart(3, '0')}`,
      }),
    );
    const { json: run } = await compared(
      without(bets[0]) + csvOf(strangers).slice(HEADER.length + 1),
    );
    const path = `/admin/reconciliations/${run.id}/differences`;
    const first = await get(`${path}?kind=missing_here`);
    const second = await get(`${path}?kind=missing_here&cursor=${first.json.nextCursor}`);
    expect([first.json.items.length, second.json.items.length]).toEqual([100, 50]);
    expect(second.json.nextCursor).toBeNull();
    const missing = await get(`${path}?kind=missing_there`);
    expect(missing.json.items).toMatchObject([
      {
        kind: 'missing_there',
        transactionId: bets[0]?.transactionId,
        here: { state: 'placed', stake: '10', payout: '0', currency: 'USD' },
        there: null,
        known: false,
        resolution: null,
      },
    ]);
    const resolve = `${path}/${missing.json.items[0]?.id}/resolve`;
    for (const wordless of ['{}', '{"reason":" "}']) {
      expect((await call('finance', 'POST', resolve, wordless)).status).toBe(400);
    }
    const done = await call('finance', 'POST', resolve, '{"reason":"their export was late"}');
    expect(done).toMatchObject({
      status: 200,
      json: { resolution: { by: 'finance@x.example', reason: 'their export was late' } },
    });
    expect((await call('finance', 'POST', resolve, '{"reason":"again"}')).status).toBe(409);
    expect((await get(`${path}?resolved=true`)).json.items).toHaveLength(1);
    expect((await get(`/admin/reconciliations/${run.id}`)).json.open).toMatchObject({
      missing_there: 0,
      missing_here: 150,
    });
    const audit = await get('/admin/audit?action=reconciliation.resolved');
    expect(audit.json.items).toMatchObject([
      {
        actor: 'finance@x.example',
        role: 'finance',
        operator: 'alpha',
        subject: expect.stringMatching(/^reconciliation \d+ difference \d+$/),
        reason: 'their export was late',
        before: { resolved: false },
        after: { resolved: true },
      },
    ]);
  });

  it('are worked on by finance and admin alone; everybody known may read', async () => {
    const { json: run } = await compared(without(bets[1]));
    const list = await get(`/admin/reconciliations/${run.id}/differences`);
    const path = `/admin/reconciliations/${run.id}/differences/${list.json.items[0]?.id}/resolve`;
    for (const role of ['viewer', 'support']) {
      const refused = await call(role, 'POST', path, '{"reason":"x"}');
      expect(refused).toMatchObject({ status: 403, json: { code: 9 } });
      expect((await call(role, 'POST', UPLOAD, csvOf(honest()))).status).toBe(403);
      expect((await call(role, 'GET', '/admin/reconciliations')).status).toBe(200);
    }
    expect((await call('admin', 'POST', path, '{"reason":"x"}')).status).toBe(200);
  });

  it.each([
    'GET /admin/reconciliations/0',
    'GET /admin/reconciliations/x',
    'GET /admin/reconciliations/99999999999999999999',
    'GET /admin/reconciliations/9/differences/',
    'GET /admin/reconciliations/999999/differences',
  ])('%s is not there', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    expect((await call('admin', method, path)).status).toBe(404);
  });
});
