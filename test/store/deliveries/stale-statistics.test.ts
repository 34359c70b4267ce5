import { afterAll, beforeAll, expect, it } from 'vitest';
import { DeliveryAdmin } from '../../../src/store/deliveries/delivery-admin.ts';
import { createPrisma } from '../../../src/store/schema/prisma.ts';
import { BY } from '../../support/audit.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';
import { insertQuietDeliveries } from '../../support/quiet-statistics.ts';

const WAITING = 2_000;

let database: OpenDatabase;
beforeAll(async () => {
  database = await openDatabase();
  const { client } = database;
  await insertQuietDeliveries(client);
  await client.query(`
    INSERT INTO bets (transaction_id, operator_id, generation, place, rollback)
    SELECT 'bet-' || n, 'alpha', 1, 'accepted', 'promised' FROM generate_series(1, ${WAITING}) n;
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, held,
                            transaction_time, next_attempt_at, dead_at)
    SELECT 100000 + n, 'alpha', 'bet-' || n, 'rollback', 'pending', true,
           '', now() + interval '1 hour', now() + interval '1 day' FROM generate_series(1, ${WAITING}) n;
    ANALYZE bets`);
});
afterAll(() => database.drop());

/** How many entries of the indexes of deliveries a person's action reads, besides those of the primary key. */
async function entriesRead(act: (admin: DeliveryAdmin) => Promise<unknown>): Promise<number> {
  const { client, url } = database;
  await client.query('SELECT pg_stat_reset()');
  const prisma = createPrisma(url);
  await act(new DeliveryAdmin({ prisma, isHeld: () => false, horizonHours: () => 24 }));
  // A connection that ends reports what it has read.
  await prisma.$disconnect();
  const { rows } = await client.query<{ read: string }>(
    `SELECT sum(idx_tup_read) AS read FROM pg_stat_user_indexes
      WHERE relname = 'deliveries' AND indexrelname <> 'deliveries_pkey'`,
  );
  return Number(rows[0]?.read);
}

/** How many of these deliveries are in that state. */
async function countOf(condition: string): Promise<number> {
  const { rows } = await database.client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM deliveries WHERE transaction_id LIKE 'bet-%' AND ${condition}`,
  );
  return rows[0]?.count ?? 0;
}

const set = (clauses: string) =>
  database.client.query(`UPDATE deliveries SET ${clauses} WHERE transaction_id LIKE 'bet-%'`);

it('releases what waits one by one, and does not read all of it for each (I4)', async () => {
  const read = await entriesRead((admin) => admin.release('alpha', { upTo: 1, to: 2 }, BY));
  expect(await countOf('NOT held AND next_attempt_at <= now()')).toBe(WAITING);
  expect(read).toBeLessThan(4 * WAITING);
});

it('makes what waits due without reading all of it for each batch (I4)', async () => {
  await set(`held = true, next_attempt_at = now() + interval '1 hour'`);
  const read = await entriesRead((admin) => admin.retrySome('alpha', 'held', {}, BY));
  expect(await countOf('next_attempt_at <= now()')).toBe(WAITING);
  expect(read).toBeLessThan(4 * WAITING);
});

it('retries dead letters without reading all of them for each batch (I4)', async () => {
  await set(`state = 'dead'`);
  const read = await entriesRead((admin) => admin.retrySome('alpha', 'dead', {}, BY));
  expect(await countOf(`state = 'pending'`)).toBe(WAITING);
  expect(read).toBeLessThan(4 * WAITING);
});
