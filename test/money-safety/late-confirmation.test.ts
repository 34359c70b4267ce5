import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endLeases, sql } from '../deliveries/support/deliveries.ts';
import type { TestBet } from '../support/bet.ts';
import type { TestGateway } from '../support/gateway.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { acceptedBet, lose, makeDue, timeComes, untilDeliveriesAre } from './support/bets.ts';
import { type HeldGateway, STATEMENTS, startHeldGateway } from './support/held-gateway.ts';
import { PATIENCE, PATIENT, QUICK } from './support/patience.ts';

let held: HeldGateway;
let gateway: TestGateway;
let postgres: TcpProxy;
beforeAll(async () => {
  held = await startHeldGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT },
  });
  ({ gateway, postgres } = held);
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => held.close());

const rollbacksOf = (bet: TestBet) => bet.wallet.arrivals(bet.transactionId, 'rollback').length;

/** Has the sweep look at the bet. Resolves once its last confirmation is to come in minutes. */
async function waitsForLast({ transactionId }: TestBet): Promise<void> {
  const look = 'UPDATE bets SET confirm_at = now() WHERE transaction_id = $1';
  await sql(gateway, look, [transactionId]);
  const next = `SELECT confirm_left, coalesce(confirm_at > now() + interval '9 minutes', false) AS is_later
                  FROM bets WHERE transaction_id = $1`;
  const last = [{ confirm_left: 1, is_later: true }];
  await expect.poll(() => sql(gateway, next, [transactionId]), PATIENCE).toEqual(last);
}

/** Its last confirmation, of 20, got no answer; that is not written yet when the rollback can wait no longer. */
async function rolledBackMeanwhile() {
  const bet = await acceptedBet(gateway);
  lose(bet, 'settle');
  expect((await bet.settle('10')).status).toBe(503);
  expect((await bet.settle('20')).status).toBe(200);
  await timeComes(bet, 'first');
  lose(bet, 'settle');
  const finish = postgres.holdRequest(STATEMENTS.finish, bet.transactionId);
  await makeDue(bet, 'second');
  await finish.stopped;
  expect((await bet.rollback()).status).toBe(200);
  expect(rollbacksOf(bet)).toBe(0);
  return { bet, finish };
}

describe('rule 3: a lost confirmation may land behind a rollback that did not wait for it', {
  timeout: 90_000,
}, () => {
  it.each(['is written late', 'is never written'])(
    'so the rollback is sent once more, ten times as late, where the outcome %s (I5)',
    async (fate) => {
      const { bet, finish } = await rolledBackMeanwhile();
      if (fate === 'is never written') await endLeases(gateway, bet.transactionId);
      else finish.release();
      await untilDeliveriesAre(bet, [{ state: 'superseded' }, { state: 'delivered' }]);
      finish.release();
      await waitsForLast(bet);
      expect(rollbacksOf(bet)).toBe(1);
      bet.wallet.applyLate(bet.transactionId);
      await timeComes(bet, 'second');
      expect(rollbacksOf(bet)).toBe(2);
    },
  );
});
