import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type {
  DeliveryAdmin,
  RetryableState,
} from '../../../src/store/deliveries/delivery-admin.ts';
import { BY } from '../../support/audit.ts';
import { type DeliveryRow, insertDelivery, insertOperation } from '../../support/deliveries.ts';
import { waitForLock } from '../../support/server.ts';
import { type AdminRig, HORIZON_HOURS, openAdminRig } from './support/admin-rig.ts';

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

async function rowOf(id: string) {
  const { rows } = await client.query(
    `SELECT state, attempts, held_ms, settled_at, resolved_by, resolved_why,
            next_attempt_at <= now() AS due,
            extract(epoch FROM dead_at - now())::float8 / 3600 AS horizon_hours
       FROM deliveries WHERE id = $1`,
    [id],
  );
  return rows[0];
}

const retryAll = async (operator: string, state: RetryableState): Promise<number> =>
  (await deliveryAdmin.retrySome(operator, state, {}, BY)).retried;

const countAll = async (operator: string, state: RetryableState): Promise<number> =>
  (await deliveryAdmin.count({ operator, state })).count;

describe('retry', () => {
  it('brings a dead delivery back with a new horizon and the attempts it had (I4)', async () => {
    const id = await insert({ state: 'dead', attempts: 12 });
    const result = await deliveryAdmin.retry(id, BY);
    expect(result).toMatchObject({ kind: 'retried', item: { id, state: 'pending', attempts: 12 } });
    const row = await rowOf(id);
    expect(row).toMatchObject({ state: 'pending', attempts: 12, due: true, settled_at: null });
    expect(row.horizon_hours).toBeCloseTo(HORIZON_HOURS, 1);
  });

  it('makes a pending delivery due now', async () => {
    const id = await insert({ attempts: 2 });
    expect(await deliveryAdmin.retry(id, BY)).toMatchObject({ kind: 'retried' });
    expect(await rowOf(id)).toMatchObject({ state: 'pending', due: true, attempts: 2 });
  });

  it('counts only what the operator is held from now on against the new horizon', async () => {
    await client.query(
      `INSERT INTO operator_holds (operator_id, held_ms, counted_at) VALUES ('alpha', 5000, now())`,
    );
    const ids = [await insert({ state: 'dead' }), await insert()];
    for (const id of ids) {
      await deliveryAdmin.retry(id, BY);
      expect(await rowOf(id)).toMatchObject({ held_ms: '5000' });
    }
  });

  it.each(['delivered', 'refused', 'superseded', 'resolved'])(
    'leaves a %s delivery as it is',
    async (state) => {
      const id = await insert({ state });
      expect(await deliveryAdmin.retry(id, BY)).toEqual({ kind: 'notRetryable', state });
      expect(await rowOf(id)).toMatchObject({ state });
    },
  );

  it.each(['0', '99999', '9'.repeat(30), '-1', 'x', ''])('knows no delivery %j', async (id) => {
    expect(await deliveryAdmin.retry(id, BY)).toEqual({ kind: 'missing' });
  });

  it.each([
    ['settle', 'settle'],
    ['unsettle', 'rollback'],
    ['update', 'update'],
    ['update', 'rollback'],
  ])('never brings a dead %s after a later %s of the same bet (I6)', async (operation, later) => {
    const transactionId = randomUUID();
    const id = await insert({ state: 'dead', operation, transactionId });
    await insertOperation(client, later, transactionId);
    expect(await deliveryAdmin.retry(id, BY)).toEqual({ kind: 'overtaken' });
    expect(await rowOf(id)).toMatchObject({ state: 'dead' });
    expect(await retryAll('alpha', 'dead')).toBe(0);
  });

  it.each([
    ['settle', 'update'],
    ['rollback', 'update'],
  ])('sends a dead %s after a later %s, which it does not affect', async (operation, later) => {
    const transactionId = randomUUID();
    const id = await insert({ state: 'dead', operation, transactionId });
    await insertOperation(client, later, transactionId);
    expect(await deliveryAdmin.retry(id, BY)).toMatchObject({ kind: 'retried' });
  });

  it('moves the version of the bet, so that nobody decides without the delivery (I6)', async () => {
    const transactionId = randomUUID();
    const id = await insert({ state: 'dead', transactionId });
    await deliveryAdmin.retry(id, BY);
    const { rows } = await client.query('SELECT version FROM bets WHERE transaction_id = $1', [
      transactionId,
    ]);
    expect(rows).toEqual([{ version: 2 }]);
  });

  it('gives way to an operation that is being committed at the same moment (I6)', async () => {
    const transactionId = randomUUID();
    const id = await insert({ state: 'dead', operation: 'settle', transactionId });
    await client.query('BEGIN');
    await insertOperation(client, 'unsettle', transactionId);
    const retried = deliveryAdmin.retry(id, BY);
    await waitForLock(rig.url);
    await client.query('COMMIT');
    expect(await retried).toEqual({ kind: 'overtaken' });
    expect(await rowOf(id)).toMatchObject({ state: 'dead' });
  });
});

describe('retrySome', () => {
  it("brings back one operator's dead deliveries and nobody else's (I8)", async () => {
    const mine = [await insert({ state: 'dead' }), await insert({ state: 'dead' })];
    const others = await insert({ operator: 'beta', state: 'dead' });
    expect(await retryAll('alpha', 'dead')).toBe(2);
    for (const id of mine) {
      const row = await rowOf(id);
      expect(row).toMatchObject({ state: 'pending', due: true });
      expect(row.horizon_hours).toBeCloseTo(HORIZON_HOURS, 1);
    }
    expect(await rowOf(others)).toMatchObject({ state: 'dead' });
  });

  it('brings back two of one bet, and more than fit one batch', async () => {
    const transactionId = randomUUID();
    await insert({ state: 'dead', operation: 'update', transactionId });
    await insert({ state: 'dead', operation: 'settle', transactionId });
    await client.query(
      `WITH source AS (SELECT 'bet-' || n AS id FROM generate_series(1, 600) n),
       bet AS (INSERT INTO bets (transaction_id, operator_id, generation, place)
               SELECT id, 'alpha', 1, 'unknown' FROM source),
       op AS (INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body)
              SELECT id, 'alpha', 'rollback', gen_random_uuid(), '{}' FROM source
              RETURNING id, transaction_id)
       INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                               transaction_time, next_attempt_at, dead_at)
       SELECT id, 'alpha', transaction_id, 'rollback', 'dead', '', now(), now() FROM op`,
    );
    expect(await retryAll('alpha', 'dead')).toBe(602);
    expect(await retryAll('alpha', 'dead')).toBe(0);
  });

  it('makes due what waits, but leaves confirmations to their time', async () => {
    const waits = await insert();
    const confirms = await insert({ purpose: 'confirm', operation: 'settle' });
    expect(await retryAll('alpha', 'pending')).toBe(1);
    expect(await rowOf(waits)).toMatchObject({ due: true });
    expect(await rowOf(confirms)).toMatchObject({ due: false });
  });

  it('keeps held and pending apart as the list does', async () => {
    const id = await insert();
    held.add('alpha');
    expect(await retryAll('alpha', 'pending')).toBe(0);
    expect(await retryAll('alpha', 'held')).toBe(1);
    expect(await rowOf(id)).toMatchObject({ due: true });
    held.clear();
    expect(await retryAll('alpha', 'held')).toBe(0);
  });

  it('takes what the list counts, even if bets are held only because of their wallet', async () => {
    const [waits, ofOtherWallet] = [await insert(), await insert()];
    await client.query('UPDATE deliveries SET held = true WHERE id = $1', [ofOtherWallet]);
    expect(await countAll('alpha', 'pending')).toBe(1);
    expect(await retryAll('alpha', 'pending')).toBe(1);
    expect(await rowOf(waits)).toMatchObject({ due: true });
    expect(await rowOf(ofOtherWallet)).toMatchObject({ due: false });
    expect(await countAll('alpha', 'held')).toBe(1);
    expect(await retryAll('alpha', 'held')).toBe(1);
    expect(await rowOf(ofOtherWallet)).toMatchObject({ due: true });
    held.add('alpha');
    expect(await countAll('alpha', 'held')).toBe(2);
    expect(await retryAll('alpha', 'held')).toBe(2);
  });
});

describe('resolve', () => {
  it('records who settled a dead delivery by hand, and why', async () => {
    const id = await insert({ state: 'dead' });
    const result = await deliveryAdmin.resolve(id, 'ann', 'refunded at the wallet, OPS-12', BY);
    expect(result).toMatchObject({ kind: 'resolved', item: { id, state: 'resolved' } });
    expect(await rowOf(id)).toMatchObject({
      state: 'resolved',
      resolved_by: 'ann',
      resolved_why: 'refunded at the wallet, OPS-12',
      settled_at: expect.any(Date),
    });
  });

  it.each(['pending', 'delivered', 'resolved'])('takes nothing that is %s (I4)', async (state) => {
    const id = await insert({ state });
    expect(await deliveryAdmin.resolve(id, 'ann', 'tired', BY)).toEqual({
      kind: 'notResolvable',
      state,
    });
    expect(await rowOf(id)).toMatchObject({ state, resolved_by: null });
  });

  it('leaves a newer result alone that a wallet has confirmed at that moment', async () => {
    const transactionId = randomUUID();
    const id = await insert({ state: 'dead', operation: 'settle', transactionId });
    await client.query('BEGIN');
    await insertOperation(client, 'settle', transactionId);
    await client.query(
      `UPDATE bets SET settlement = 'settled', settlement_amount = '50', settlement_type = 'won',
                       settlement_time = 'then' WHERE transaction_id = $1`,
      [transactionId],
    );
    const resolved = deliveryAdmin.resolve(id, 'ann', 'the wallet holds it', BY);
    await waitForLock(rig.url);
    await client.query('COMMIT');
    expect(await resolved).toMatchObject({ kind: 'resolved' });
    const { rows } = await client.query(
      'SELECT settlement, settlement_amount FROM bets WHERE transaction_id = $1',
      [transactionId],
    );
    expect(rows).toEqual([{ settlement: 'settled', settlement_amount: '50' }]);
  });

  it.each([
    ['counts as what the wallet holds', 'settled', () => undefined],
    [
      'counts beside a copy of it that came later',
      'settled',
      async (transactionId: string) => {
        const copy = await insertOperation(client, 'settle', transactionId);
        await client.query('UPDATE operations SET is_copy = true WHERE id = $1', [copy]);
      },
    ],
    [
      'leaves a bet to the result behind it',
      'unknown',
      (transactionId: string) => insertOperation(client, 'unsettle', transactionId),
    ],
    [
      'leaves a bet that is rolled back',
      'unknown',
      () => client.query(`UPDATE bets SET rollback = 'promised', rollback_time = 'then'`),
    ],
    [
      'leaves a bet whose next result is on its way',
      'unknown',
      () =>
        client.query(
          `UPDATE bets SET busy_operation = 'settle', busy_attempt = gen_random_uuid(),
                           busy_until = now() + interval '10 s'`,
        ),
    ],
  ] as const)('of a settle %s (I6)', async (_, settlement, meanwhile) => {
    const transactionId = randomUUID();
    const id = await insert({ state: 'dead', operation: 'settle', transactionId });
    await client.query(`UPDATE deliveries SET settle_amount = '5', settle_type = 'won'`);
    await client.query(`UPDATE bets SET settlement = 'unknown'`);
    await meanwhile(transactionId);
    const resolved = await deliveryAdmin.resolve(id, 'ann', 'the wallet holds it', BY);
    expect(resolved).toMatchObject({ kind: 'resolved' });
    expect((await client.query('SELECT settlement FROM bets')).rows).toEqual([{ settlement }]);
  });

  it('is done by one person, even if two looked at that moment (I12)', async () => {
    const transactionId = randomUUID();
    const id = await insert({ state: 'dead', transactionId });
    await client.query('BEGIN');
    await client.query('SELECT FROM bets WHERE transaction_id = $1 FOR UPDATE', [transactionId]);
    const tries = ['ann', 'bob'].map((who) => deliveryAdmin.resolve(id, who, 'done', BY));
    await waitForLock(rig.url, 2);
    await client.query('COMMIT');
    const kinds = (await Promise.all(tries)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['notResolvable', 'resolved']);
  });
});
