import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryAdmin } from '../../../src/store/deliveries/delivery-admin.ts';
import { BY } from '../../support/audit.ts';
import { type DeliveryRow, insertDelivery } from '../../support/deliveries.ts';
import { type AdminRig, openAdminRig } from './support/admin-rig.ts';

let rig: AdminRig;
let client: Client;
let deliveryAdmin: DeliveryAdmin;
let held: Set<string>;

beforeAll(async () => {
  rig = await openAdminRig();
  ({ client, deliveryAdmin, held } = rig);
});
afterAll(() => rig.close());
beforeEach(() => rig.clear());

const insert = (row?: DeliveryRow) => insertDelivery(client, row);

async function idsOf(query: Parameters<DeliveryAdmin['list']>[0]): Promise<string[]> {
  return (await deliveryAdmin.list(query)).items.map(({ id }) => id);
}

describe('list', () => {
  it('shows what people need to know about a delivery, and nothing of its content', async () => {
    const transactionId = randomUUID();
    const id = await insert({ transactionId, attempts: 3, lastError: 'connection refused' });
    expect((await deliveryAdmin.list({})).items).toEqual([
      {
        id,
        operator: 'alpha',
        operation: 'rollback',
        transactionId,
        state: 'pending',
        purpose: 'promise',
        attempts: 3,
        lastError: 'connection refused',
        nextAttemptAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      },
    ]);
  });

  it('never shows what is being tried within its callback', async () => {
    const id = await insert({ state: 'live' });
    expect(await deliveryAdmin.list({})).toEqual({ items: [], nextCursor: null });
    expect(await deliveryAdmin.retry(id, BY)).toEqual({ kind: 'missing' });
    expect(await deliveryAdmin.resolve(id, 'ann', 'gone', BY)).toEqual({ kind: 'missing' });
  });

  it('announces no further attempt if none will come', async () => {
    await insert({ state: 'dead' });
    const { items } = await deliveryAdmin.list({});
    expect(items[0]?.nextAttemptAt).toBeNull();
  });

  it('filters by operator, state and operation', async () => {
    const wanted = await insert({ operator: 'beta', operation: 'update', state: 'dead' });
    await insert({ operator: 'alpha', operation: 'update', state: 'dead' });
    await insert({ operator: 'beta', operation: 'rollback', state: 'dead' });
    await insert({ operator: 'beta', operation: 'update', state: 'delivered' });
    const query = { operator: 'beta', operation: 'update', state: 'dead' } as const;
    expect(await idsOf(query)).toEqual([wanted]);
  });

  it('calls a pending delivery held while its operator takes none', async () => {
    const alpha = await insert({ operator: 'alpha' });
    const beta = await insert({ operator: 'beta' });
    await insert({ operator: 'beta', state: 'dead' });
    held.add('beta');
    expect(await idsOf({ state: 'held' })).toEqual([beta]);
    expect(await idsOf({ state: 'pending' })).toEqual([alpha]);
    expect(await idsOf({ state: 'held', operator: 'alpha' })).toEqual([]);
    expect(await idsOf({ state: 'pending', operator: 'beta' })).toEqual([]);
    const { items } = await deliveryAdmin.list({ operator: 'beta' });
    expect(items.map(({ state }) => state)).toEqual(['held', 'dead']);
  });

  it('pages through everything once, oldest first', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(await insert());
    const first = await deliveryAdmin.list({ limit: 2 });
    const second = await deliveryAdmin.list({ limit: 2, cursor: first.nextCursor ?? '' });
    const third = await deliveryAdmin.list({ limit: 2, cursor: second.nextCursor ?? '' });
    const pages = [first, second, third].map((page) => page.items.map(({ id }) => id));
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    expect(third.nextCursor).toBeNull();
  });

  it('gives no cursor to an empty page when the page before was exactly full', async () => {
    await insert();
    await insert();
    expect((await deliveryAdmin.list({ limit: 2 })).nextCursor).toBeNull();
  });
});
