import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BY } from '../../support/audit.ts';
import { type DeliveryRow, insertDelivery } from '../../support/deliveries.ts';
import { type AdminRig, openAdminRig } from './support/admin-rig.ts';

let rig: AdminRig;
beforeAll(async () => {
  rig = await openAdminRig();
});
afterAll(() => rig.close());
beforeEach(() => rig.clear());

interface Waiting extends DeliveryRow {
  readonly generation: number;
  readonly held?: boolean;
  /** Default: none. */
  readonly clockWasAheadHours?: number;
}

/** Releases the bets of generation 1 and 2 while this waits for an hour, its horizon of an hour being over. */
async function released({ generation, held = true, clockWasAheadHours = 0, ...row }: Waiting) {
  const { client, deliveryAdmin } = rig;
  const id = await insertDelivery(client, row);
  await client.query('UPDATE bets SET generation = $1', [generation]);
  await client.query(
    `UPDATE deliveries SET held = $1, created_at = created_at + make_interval(hours => $2),
                           dead_at = dead_at + make_interval(hours => $2)`,
    [held, clockWasAheadHours],
  );
  await deliveryAdmin.release('alpha', { upTo: 2, to: 2 }, BY);
  const { rows } = await client.query(
    `SELECT next_attempt_at <= clock_timestamp() AS "isDue", held AS "isHeld",
            round(extract(epoch FROM dead_at - clock_timestamp()) / 3600)::int AS "hoursLeft"
       FROM deliveries WHERE id = $1`,
    [id],
  );
  return rows[0];
}

const UNTOUCHED = { isDue: false, isHeld: true, hoursLeft: 0 };

describe('a release makes due, with a whole horizon,', () => {
  it.each([1, 2, 0])('what was held of a bet of generation %i (I4)', async (generation) => {
    expect(await released({ generation })).toEqual({ isDue: true, isHeld: false, hoursLeft: 1 });
  });

  it('and takes nothing off the horizon of what was promised by a clock that was ahead (I4)', async () => {
    const left = await released({ generation: 1, clockWasAheadHours: 5 });
    expect(left).toEqual({ isDue: true, isHeld: false, hoursLeft: 5 });
  });
});

describe('a release leaves alone', () => {
  it('what waits for its back-off at the present wallet', async () => {
    expect(await released({ generation: 2, held: false })).toEqual({ ...UNTOUCHED, isHeld: false });
  });

  it('what is held of a bet of a newer wallet', async () => {
    expect(await released({ generation: 3 })).toEqual(UNTOUCHED);
  });

  it('the back-off of what was let go before, whose horizon is whole again', async () => {
    const left = await released({ generation: 1, held: false });
    expect(left).toEqual({ isDue: false, isHeld: false, hoursLeft: 1 });
  });

  it('dead letters, and what another operator’s wallet is to get (I7)', async () => {
    expect(await released({ generation: 1, state: 'dead' })).toEqual(UNTOUCHED);
    await rig.clear();
    expect(await released({ generation: 1, operator: 'beta' })).toEqual(UNTOUCHED);
  });
});
