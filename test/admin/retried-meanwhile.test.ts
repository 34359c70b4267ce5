import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertDelivery } from '../support/deliveries.ts';
import { onServer, waitForLock } from '../support/server.ts';
import { type Reply, startAdmin, type TestAdmin } from './support/admin.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());
beforeEach(async () => {
  await admin.client.query('TRUNCATE deliveries, operator_holds');
});

const retry = (id: string) => admin.post(`/admin/deliveries/${id}/retry`);

async function auditedOf(id: string): Promise<number> {
  const { rowCount } = await admin.client.query(
    `SELECT FROM audit WHERE action = 'delivery.retry' AND subject = 'delivery ' || $1`,
    [id],
  );
  return rowCount ?? 0;
}

/** Asks while another session has locked what would be changed, which `change` changes before it lets go. */
async function meanwhile(
  ask: () => readonly Promise<Reply>[],
  lock: string,
  change: string,
  of: string,
): Promise<readonly Reply[]> {
  return await onServer(admin.databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query(lock, [of]);
    const asked = ask();
    await waitForLock(admin.databaseUrl, asked.length);
    if (change !== '') await client.query(change, [of]);
    await client.query('COMMIT');
    return await Promise.all(asked);
  });
}

describe('a delivery that changes while a person retries it', () => {
  it('is due for both of two persons who retry its dead letter at once, each on record (I12)', async () => {
    const transactionId = randomUUID();
    const id = await insertDelivery(admin.client, { state: 'dead', transactionId });
    const replies = await meanwhile(
      () => [retry(id), retry(id)],
      'SELECT FROM bets WHERE transaction_id = $1 FOR UPDATE',
      '',
      transactionId,
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(replies.map(({ json }) => json.state)).toEqual(['pending', 'pending']);
    expect(await auditedOf(id)).toBe(2);
  });

  it('is not called overtaken if only its last attempt has ended meanwhile: that needs a new decision (I5)', async () => {
    const id = await insertDelivery(admin.client, { state: 'pending' });
    const [reply] = await meanwhile(
      () => [retry(id)],
      'SELECT FROM deliveries WHERE id = $1 FOR UPDATE',
      `UPDATE deliveries SET state = 'dead' WHERE id = $1`,
      id,
    );
    expect(reply?.status).toBe(409);
    expect(reply?.json.message).toContain('or has just ended');
    expect(await auditedOf(id)).toBe(0);
  });

  it('is not called due while its last attempt is under way, with which it may die (I4)', async () => {
    const transactionId = randomUUID();
    const id = await insertDelivery(admin.client, { state: 'pending', transactionId });
    const overdue = `UPDATE deliveries SET dead_at = clock_timestamp() - interval '1 s' WHERE id = $1`;
    await admin.client.query(overdue, [id]);
    const busy = `UPDATE bets SET busy_operation = 'rollback', busy_attempt = gen_random_uuid(),
                         busy_until = clock_timestamp() + interval '15 s' WHERE transaction_id = $1`;
    await admin.client.query(busy, [transactionId]);
    const body = { operator: 'alpha', state: 'pending' };
    expect((await retry(id)).json.message).toContain('Its last attempt is under way');
    expect((await admin.post('/admin/deliveries/retry', body)).json).toEqual({ retried: 0 });
    expect(await auditedOf(id)).toBe(0);
    // Time held by people extends its horizon: then it is not the last one.
    const held = `INSERT INTO operator_holds (operator_id, held_ms, counted_at)
                  VALUES ('alpha', 3600000, clock_timestamp())`;
    await admin.client.query(held);
    expect((await retry(id)).status).toBe(200);
    expect(await auditedOf(id)).toBe(1);
  });

  it('stays as another person has resolved it (I12)', async () => {
    const id = await insertDelivery(admin.client, { state: 'pending' });
    const [reply] = await meanwhile(
      () => [retry(id)],
      'SELECT FROM deliveries WHERE id = $1 FOR UPDATE',
      `UPDATE deliveries SET state = 'resolved' WHERE id = $1`,
      id,
    );
    expect(reply?.status).toBe(409);
    expect(reply?.json.message).toContain('resolved');
    expect(await auditedOf(id)).toBe(0);
  });
});
