import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BY } from '../../support/audit.ts';
import { insertDelivery } from '../../support/deliveries.ts';
import { type AdminRig, openAdminRig } from './support/admin-rig.ts';

let rig: AdminRig;
beforeAll(async () => {
  rig = await openAdminRig();
});
afterAll(() => rig.close());
beforeEach(() => rig.clear());

/** A dead letter of a bet whose result is 50, resolved. */
async function resolved(operation: 'settle' | 'unsettle' | 'update', change = 'version = version') {
  const { client, deliveryAdmin } = rig;
  const transactionId = randomUUID();
  const id = await insertDelivery(client, { state: 'dead', operation, transactionId });
  const settle = operation === 'settle' ? `'20', 'won'` : 'NULL, NULL';
  await client.query(`UPDATE deliveries SET (settle_amount, settle_type) = (${settle})`);
  await client.query(
    `UPDATE bets SET settlement = 'settled', settlement_amount = '50', settlement_type = 'won',
                     settlement_time = 'then', ${change}`,
  );
  const result = await deliveryAdmin.resolve(id, 'ann', 'seen at the wallet', BY);
  expect(result).toMatchObject({ kind: 'resolved' });
  const { rows } = await client.query('SELECT settlement, settlement_amount AS amount FROM bets');
  return rows[0];
}

describe('a dead letter that a person has resolved', () => {
  it('is what the wallet holds, if it is a result (I6)', async () => {
    expect(await resolved('settle')).toEqual({ settlement: 'settled', amount: '20' });
    await rig.clear();
    expect(await resolved('unsettle')).toEqual({ settlement: 'unsettled', amount: null });
  });

  it('says nothing about the result of its bet, if it is a data update (I6)', async () => {
    expect(await resolved('update')).toEqual({ settlement: 'settled', amount: '50' });
  });

  it.each(['update', 'confirm'])(
    'is what the wallet holds also while an operation is on its way that changes no result: %s',
    async (busy) => {
      const isBusy = `busy_operation = '${busy}', busy_attempt = gen_random_uuid(),
                      busy_until = now() + interval '10 s'`;
      expect(await resolved('settle', isBusy)).toEqual({ settlement: 'settled', amount: '20' });
    },
  );
});
