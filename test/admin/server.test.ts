import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { placeBody, rollbackBody } from '../../src/protocol/callback-bodies.ts';
import { type DeliveryRow, insertDelivery } from '../support/deliveries.ts';
import { startAdmin, type TestAdmin } from './support/admin.ts';

let admin: TestAdmin;
let client: Client;

beforeAll(async () => {
  admin = await startAdmin();
  ({ client } = admin);
});

afterAll(() => admin.close());

beforeEach(async () => {
  await client.query('TRUNCATE deliveries');
});

const insert = (row?: DeliveryRow) => insertDelivery(client, row);

describe('operators', () => {
  it('shows each as it stands', async () => {
    await insert();
    await insert();
    await insert({ state: 'dead' });
    // On a busy machine the counts may take too long, and are then left out.
    const { json } = await vi.waitFor(async () => {
      const answer = await admin.get('/admin/operators');
      expect(answer.json.items[0]?.openDeliveries).not.toBeNull();
      return answer;
    }, 20_000);
    expect(json.items).toEqual([
      {
        id: 'alpha',
        name: 'alpha',
        status: 'active',
        currencies: ['USD', 'EUR'],
        sessions: { mode: 'issued' },
        breaker: { read: 'closed', money: 'closed' },
        override: { read: 'auto', money: 'auto' },
        inFlight: { read: 0, money: 0 },
        hold: null,
        releasedTo: null,
        openDeliveries: 2,
        heldDeliveries: 0,
        oldestDelivery: expect.stringMatching(/^\d{4}-.*Z$/),
        deadDeliveries: 1,
        unresolvedBets: 0,
        countsAtLeast: [],
        recently: null,
      },
      expect.objectContaining({ id: 'beta', openDeliveries: 0, oldestDelivery: null }),
    ]);
    // As old as the older of the two; a mere confirmation does not count.
    await insert({ operator: 'beta', purpose: 'confirm' });
    const { json: again } = await admin.get('/admin/operators');
    const [alpha, beta] = again.items;
    expect(Date.now() - Date.parse(String(alpha?.oldestDelivery))).toBeGreaterThan(3_500_000);
    expect([beta?.openDeliveries, beta?.oldestDelivery]).toEqual([1, null]);
  });

  it('shows one with its settings, its last hour and the last reload, and no secret (I8)', async () => {
    const { json, text } = await admin.get('/admin/operators/alpha');
    expect(json).toMatchObject({
      id: 'alpha',
      breaker: { money: 'closed' },
      settings: { 'wallet.timeoutMs': '4000', 'wallet.secrets': { secrets: [expect.any(String)] } },
      lastReload: { result: 'ok', goodAt: expect.stringMatching(/Z$/) },
      lastHour: [{ callbacks: expect.any(Number), walletMeanMs: null }],
    });
    expect(text).not.toMatch(/alpha-wallet-secret|alpha-api-secret/);
    expect((await admin.get('/admin/operators/nobody')).status).toBe(404);
  });

  it('has a wallet probed, which moves no money', async () => {
    const { status, json } = await admin.post('/admin/operators/alpha/probe');
    expect(status).toBe(200);
    expect(json).toEqual({
      operator: 'alpha',
      wallet: admin.gateway.wallet('alpha').baseUrl,
      result: 'ok',
      latencyMs: expect.any(Number),
      detail: expect.stringContaining('refuses an unknown player in proper form'),
      certificate: null,
      ownCertificate: null,
    });
    expect(admin.gateway.wallet('alpha').bets.size).toBe(0);
    expect((await admin.post('/admin/operators/nobody/probe')).status).toBe(404);
  });

  it('never shows a secret (I8)', async () => {
    const { text } = await admin.get('/admin/operators');
    expect(text).not.toMatch(/secret|alpha-key/);
  });

  it('opens a breaker and leaves it to itself again', async () => {
    const path = '/admin/operators/alpha/breaker';
    const opened = await admin.post(path, { class: 'money', state: 'open' });
    expect(opened.status).toBe(200);
    expect(opened.json).toEqual({ operator: 'alpha', class: 'money', state: 'open' });
    const open = (await admin.get('/admin/operators')).json.items[0];
    expect(open?.breaker).toEqual({ read: 'closed', money: 'open' });
    expect(open?.override).toEqual({ read: 'auto', money: 'open' });
    const { rows } = await client.query('SELECT operator_id, class, state FROM breaker_overrides');
    expect(rows).toEqual([{ operator_id: 'alpha', class: 'money', state: 'open' }]);

    expect((await admin.post(path, { class: 'money', state: 'auto' })).status).toBe(200);
    const closed = (await admin.get('/admin/operators')).json.items[0];
    expect(closed?.breaker).toEqual({ read: 'closed', money: 'closed' });
  });

  it.each([
    [{ class: 'cash', state: 'open' }, 'class: must be one of read, money'],
    [{ class: 'read', state: 'ajar' }, 'state: must be one of closed, open, auto'],
    [{ class: 'read' }, 'state: must be one of closed, open, auto'],
    [{ class: 'read', state: 'open', forMs: 5 }, 'forMs: is not known here'],
    ['{"class":"read","class":"money"}', expect.stringMatching(/^class: /)],
    ['open', 'the body is not valid JSON'],
    ['', 'the body is not valid JSON'],
  ])('names what is wrong with the wish %j', async (body, message) => {
    const { status, json } = await admin.post('/admin/operators/alpha/breaker', body);
    expect(status).toBe(400);
    expect(json).toEqual({ code: 5, message });
  });

  it('releases the bets of an older wallet', async () => {
    const answer = await admin.post('/admin/operators/alpha/release', { generation: 3 });
    expect(answer.json).toEqual({ operator: 'alpha', generation: 3 });
    const { rows } = await client.query('SELECT operator_id, released FROM operator_holds');
    expect(rows).toContainEqual({ operator_id: 'alpha', released: 3 });
  });

  it.each([
    ['/admin/operators/nobody/breaker', { class: 'read', state: 'open' }],
    ['/admin/operators/nobody/release', { generation: 1 }],
    ['/admin/deliveries/retry', { operator: 'nobody', state: 'dead' }],
  ])('knows no operator that is not configured: %s', async (path, body) => {
    const { status, json } = await admin.post(path, body);
    expect(status).toBe(404);
    expect(json).toEqual({ code: 2, message: 'No such operator' });
  });

  it('reloads the configuration, and says what is wrong with it', async () => {
    expect((await admin.post('/admin/reload')).json).toMatchObject({ result: 'ok' });
    const file = join(admin.gateway.configFolder, 'operators', 'alpha.yaml');
    const good = await readFile(file, 'utf8');
    await writeFile(file, `${good}\nnonsense: 1\n`);
    const { status, json } = await admin.post('/admin/reload');
    await writeFile(file, good);
    expect(status).toBe(200);
    expect(json.result).toBe('invalid');
    expect(json.problems).toEqual([expect.objectContaining({ path: 'nonsense' })]);
  });
});

describe('bets', () => {
  it('tells the whole story, with exact numbers and without the token (I9)', async () => {
    const { gateway } = admin;
    const player = await gateway.player({ balance: '100' });
    const slip = gateway.service.slip({ ...player, amount: '12.10' });
    await gateway.service.call('POST', '/payment/bet', placeBody(slip));
    await gateway.service.call('PUT', '/payment/bet', rollbackBody(slip, 8));
    const { status, json, text } = await admin.get(`/admin/bets/${slip.transactionId}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      transactionId: slip.transactionId,
      operator: 'alpha',
      operatorUser: player.user,
      state: 'rolled_back',
      amount: '12.10',
    });
    expect(json.operations).toMatchObject([
      {
        operation: 'place',
        request: expect.stringMatching(/(?=.*"token":"\*\*\*")(?=.*"amount":12\.10)/s),
        answer: { status: 200, body: expect.stringContaining(slip.transactionId) },
        attempts: [{ number: 1, result: 'accepted', status: 200 }],
      },
      { operation: 'rollback', attempts: [{ result: 'accepted' }] },
    ]);
    expect(text).not.toContain(player.token);
    expect(text).not.toContain(player.operatorToken);
  });

  it.each([
    ['nobody', 404, 2],
    [encodeURIComponent('a/b é'), 404, 2],
    [encodeURIComponent('é'.repeat(64)), 404, 2],
    ['x'.repeat(65), 400, 5],
    ['a%00b', 400, 5],
  ])('has no bet %s', async (id, status, code) => {
    const answer = await admin.get(`/admin/bets/${id}`);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  });
});

describe('without PostgreSQL', () => {
  beforeAll(() => admin.postgres.cut());
  afterAll(() => admin.postgres.restore());

  it('still shows the operators and their breakers', async () => {
    const { status, json } = await admin.get('/admin/operators');
    expect(status).toBe(200);
    expect(json.items[0]).toMatchObject({
      id: 'alpha',
      breaker: { read: 'closed', money: 'closed' },
      openDeliveries: null,
    });
  });

  it.each([
    ['GET', '/admin/deliveries'],
    ['GET', '/admin/bets/x'],
    ['POST', '/admin/deliveries/1/retry'],
  ])('answers 503 to %s %s', async (method, path) => {
    const { status, json } = await (method === 'GET' ? admin.get(path) : admin.post(path));
    expect([status, json.code]).toEqual([503, 100]);
  });

  it('answers 503 to a change of a breaker, which must reach every process', async () => {
    const body = { class: 'money', state: 'open' };
    expect((await admin.post('/admin/operators/alpha/breaker', body)).status).toBe(503);
    const { json } = await admin.get('/admin/operators');
    expect(json.items[0]).toHaveProperty('breaker.money', 'closed');
  });

  it('is not ready, and says so', async () => {
    const ask = async () => {
      const { status, json } = await admin.get('/health/ready');
      return [status, Reflect.get(json.dependencies ?? {}, 'postgresql')];
    };
    // Probes close together share an answer, also that of the operators' page, from before.
    await expect.poll(ask).toEqual([503, 'down']);
  });
});
