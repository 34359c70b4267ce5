import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryRow, insertDelivery, insertOperation } from '../support/deliveries.ts';
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

describe('deliveries', () => {
  it('lists them by operator, state and operation', async () => {
    const dead = await insert({ state: 'dead' });
    await insert();
    const held = await insert({ operator: 'beta' });
    const idsOf = async (query: string) => {
      const { json } = await admin.get(`/admin/deliveries?${query}`);
      return json.items.map(({ id }: { id: string }) => id);
    };
    expect(await idsOf('operator=alpha&state=dead&operation=rollback')).toEqual([dead]);
    expect(await idsOf('state=held')).toEqual([held]);
    expect(await idsOf('operation=update')).toEqual([]);
    expect((await admin.get('/admin/deliveries')).json).toMatchObject({ nextCursor: null });
    const { json } = await admin.get('/admin/deliveries/count?operator=alpha');
    expect(json).toEqual({ count: 2 });
  });

  it('gives an item the members that the outside contract names', async () => {
    await insert({ purpose: 'confirm' });
    const { json } = await admin.get('/admin/deliveries');
    const page = await readFile(join(import.meta.dirname, '../../docs/reference.md'), 'utf8');
    const [, named = ''] = /`GET \/admin\/deliveries\?.*?an item: `([^`]+)`/.exec(page) ?? [];
    expect(json.items.map(Object.keys)).toEqual([named.split(', ')]);
  });

  it('gives a hundred a page, and where to go on', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 101; count += 1) ids.push(await insert());
    const first = await admin.get('/admin/deliveries');
    expect(first.json.items).toHaveLength(100);
    const { json } = await admin.get(`/admin/deliveries?cursor=${first.json.nextCursor}`);
    expect(json).toMatchObject({ items: [{ id: ids[100] }], nextCursor: null });
  });

  it.each([
    ['state=live', expect.stringMatching(/^state: must be one of pending, held, /)],
    ['operation=place', 'operation: must be one of settle, unsettle, rollback, update'],
    ['cursor=x', 'cursor: must be the nextCursor of the previous page'],
    ['operator=a&operator=b', 'operator: must be a string'],
    ['operator=a%00', 'operator: holds a forbidden character'],
    ['sate=dead', 'sate: is not known here'],
  ])('names what is wrong with %s', async (query, message) => {
    const { status, json } = await admin.get(`/admin/deliveries?${query}`);
    expect(status).toBe(400);
    expect(json).toEqual({ code: 5, message });
  });

  it('retries one', async () => {
    const id = await insert({ state: 'dead' });
    const { status, json } = await admin.post(`/admin/deliveries/${id}/retry`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ id, state: 'pending' });
  });

  it('says why it retries another not (I6)', async () => {
    const delivered = await insert({ state: 'delivered' });
    const transactionId = randomUUID();
    const overtaken = await insert({ state: 'dead', operation: 'settle', transactionId });
    await insertOperation(client, 'settle', transactionId);
    const first = await admin.post(`/admin/deliveries/${delivered}/retry`);
    const second = await admin.post(`/admin/deliveries/${overtaken}/retry`);
    expect([first.status, first.json.code]).toEqual([409, 8]);
    expect(first.json.message).toContain('delivered');
    expect([second.status, second.json.code]).toEqual([409, 8]);
    expect(second.json.message).toContain('overtaken');
  });

  it("retries all of an operator's dead ones", async () => {
    await insert({ state: 'dead' });
    await insert({ state: 'dead' });
    const body = { operator: 'alpha', state: 'dead' };
    expect((await admin.post('/admin/deliveries/retry', body)).json).toEqual({ retried: 2 });
  });

  it('puts a dead one down as settled by hand', async () => {
    const id = await insert({ state: 'dead' });
    const body = { by: 'ann', reason: 'refunded at the wallet' };
    const { status, json } = await admin.post(`/admin/deliveries/${id}/resolve`, body);
    expect(status).toBe(200);
    expect(json).toMatchObject({ id, state: 'resolved' });
    expect((await admin.post(`/admin/deliveries/${id}/resolve`, body)).status).toBe(409);
  });

  it('retries a filter page by page, so that the caller sees progress', async () => {
    for (let count = 0; count < 5; count += 1) await insert({ state: 'dead' });
    await insert({ state: 'dead', operation: 'settle' });
    const body = { operator: 'alpha', state: 'dead', operation: 'rollback', limit: 3 };
    const first = (await admin.post('/admin/deliveries/retry', body)).json;
    expect(first).toEqual({ retried: 3, nextCursor: expect.stringMatching(/^\d+$/) });
    const next = { ...body, cursor: first.nextCursor };
    expect((await admin.post('/admin/deliveries/retry', next)).json).toEqual({
      retried: 2,
      nextCursor: null,
    });
    const { json } = await admin.get('/admin/deliveries/count?state=dead');
    expect(json).toEqual({ count: 1 });
  });

  it('retries ten thousand at most in one request, and says where to go on', async () => {
    // They belong to no bet: each is looked at and left as it is.
    await client.query(
      `INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                               transaction_time, next_attempt_at, dead_at)
       SELECT -n, 'alpha', 'none-' || n, 'rollback', 'dead', '', now(), now()
         FROM generate_series(1, 10000) n`,
    );
    await insert({ state: 'dead' });
    await insert({ state: 'dead' });
    const body = { operator: 'alpha', state: 'dead' };
    const first = (await admin.post('/admin/deliveries/retry', body)).json;
    expect(first).toEqual({ retried: 0, nextCursor: expect.stringMatching(/^\d+$/) });
    const next = { ...body, cursor: first.nextCursor };
    expect((await admin.post('/admin/deliveries/retry', next)).json).toEqual({ retried: 2 });
  });

  it('wants to know who resolves, and why', async () => {
    const id = await insert({ state: 'dead' });
    const blank = { by: ' ', reason: 'credited by hand' };
    const unsigned = await admin.post(`/admin/deliveries/${id}/resolve`, blank);
    expect([unsigned.status, unsigned.json?.message]).toEqual([400, 'by: must not be empty']);
    const { status, json } = await admin.post(`/admin/deliveries/${id}/resolve`, { by: 'ann' });
    expect(status).toBe(400);
    expect(json.message).toBe('reason: must be a string');
  });

  it.each(['retry', 'resolve'])('cannot %s a delivery that does not exist', async (verb) => {
    const body = { by: 'ann', reason: 'gone' };
    for (const id of ['1234567', 'x', '9'.repeat(40)]) {
      const { status, json } = await admin.post(`/admin/deliveries/${id}/${verb}`, body);
      expect([status, json.code]).toEqual([404, 2]);
    }
  });
});
