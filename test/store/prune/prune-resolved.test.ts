import { afterAll, beforeAll, expect, it } from 'vitest';
import { pruneDeliveries } from '../../../src/store/prune/prune-deliveries.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';
import { insertDelivery } from '../../support/deliveries.ts';

let database: OpenDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

it('a person’s word about a result stays as long as its bet goes by it (I5)', async () => {
  const { client } = database;
  const resolved = { operation: 'settle', state: 'resolved' } as const;
  const stands = await insertDelivery(client, { ...resolved, transactionId: 'open' });
  await client.query(
    `UPDATE bets SET standing_operation_id = (SELECT operation_id FROM deliveries WHERE id = $1)
      WHERE transaction_id = 'open'`,
    [stands],
  );
  await insertDelivery(client, { ...resolved, transactionId: 'passed' });
  await insertDelivery(client, { operation: 'settle', state: 'delivered', transactionId: 'open' });
  const before = new Date(Date.now() + 3_600_000);
  const options = { before, log: () => undefined };
  expect(await pruneDeliveries(client, { ...options, isDryRun: true })).toBe(2);
  expect(await pruneDeliveries(client, { ...options, isDryRun: false })).toBe(2);
  const { rows } = await client.query('SELECT id::text FROM deliveries');
  expect(rows).toEqual([{ id: stands }]);
});
