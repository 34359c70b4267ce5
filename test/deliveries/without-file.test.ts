import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  acceptedBet,
  lose,
  makeDue,
  settlesOf,
  untilDeliveriesAre,
} from '../money-safety/support/bets.ts';
import { PATIENCE, PATIENT, QUICK } from '../money-safety/support/patience.ts';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { sql } from './support/deliveries.ts';

const HOLDING = {
  wallet: { ...PATIENT.wallet, dialect: { unknownRepeats: 'hold' } },
} as const;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: {
      alpha: PATIENT,
      beta: { wallet: { generation: 3 } },
      gamma: { wallet: { dialect: { updates: 'skip' } } },
    },
  });
});
afterAll(() => gateway.close());

async function removeFile(operatorId: string): Promise<void> {
  await rm(join(gateway.configFolder, 'operators', `${operatorId}.yaml`));
  await gateway.reload();
}

/** Lets the confirmation come due, and resolves once the worker has looked at it. */
async function isLookedAt(bet: TestBet, which: 'first' | 'second'): Promise<void> {
  await makeDue(bet, which);
  await vi.waitFor(async () => {
    const due = `SELECT 1 FROM bets WHERE transaction_id = $1 AND confirm_at <= clock_timestamp()`;
    expect(await sql(gateway, due, [bet.transactionId])).toEqual([]);
  }, PATIENCE);
}

it('a lost result of an operator without a file is left to a person once the file is back (I4)', async () => {
  const bet = await acceptedBet(gateway);
  lose(bet, 'settle');
  expect((await bet.settle('20')).status).toBe(503);
  await removeFile('alpha');
  // As after eleven minutes: the service has given up by then.
  for (const which of ['first', 'second'] as const) await isLookedAt(bet, which);

  await gateway.reconfigure('alpha', HOLDING);
  await makeDue(bet, 'first');
  await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
  expect(settlesOf(bet)).toEqual(['20']);
}, 60_000);

it('what came for a bet unknown here reaches the wallet of whichever generation is back (I4)', async () => {
  // PostgreSQL was away when it was placed, say.
  const bet = await unplacedBet(gateway, { operatorId: 'beta' });
  await removeFile('beta');
  expect((await bet.update('1.5')).status).toBe(200);
  expect((await bet.rollback()).status).toBe(200);
  await gateway.reconfigure('beta', {});
  await untilDeliveriesAre(bet, [
    { operation: 'update', state: 'superseded' },
    { operation: 'rollback', state: 'delivered' },
  ]);
  expect(bet.arrivals()).toEqual(['rollback']);
}, 60_000);
