import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HeldGateway, startHeldGateway } from '../money-safety/support/held-gateway.ts';
import { placedBet, unplacedBet } from '../support/bet.ts';
import { untilDeliveries } from './support/deliveries.ts';

/** Shorter than a statement waits for its answer: what comes within this time has not waited for it. */
const BESIDE_MS = 5_000;

let held: HeldGateway;
beforeAll(async () => {
  const wallet = { breaker: { minRequests: 100_000 } };
  held = await startHeldGateway({
    worker: true,
    gateway: {
      delivery: {
        ...{ minBackoffMs: 50, maxBackoffMs: 100 },
        ...{ confirmUnknownAfterMs: 200, originateRollbackAfterMs: 200 },
      },
    },
    operators: {
      alpha: { wallet, delivery: { originateRollbackAfterMs: 600_000 } },
      beta: { wallet },
      gamma: { wallet, delivery: { originateRollbackAfterMs: 600_000 } },
    },
  });
});
afterAll(() => held.close());

async function unknownBet(operatorId: string) {
  const bet = await unplacedBet(held.gateway, { operatorId });
  const { transactionId } = bet;
  bet.wallet.misbehave('place', { kind: 'reset' }, { transactionId, calls: 1 });
  expect((await bet.place()).json?.code).toBe(100);
  return bet;
}

/** A rollback that its wallet takes only when it is delivered. */
async function expectDelivery() {
  const bet = await placedBet(held.gateway);
  const { transactionId, wallet } = bet;
  wallet.misbehave('rollback', { kind: 'reset' }, { transactionId, calls: 1 });
  expect((await bet.rollback()).status).toBe(200);
  await wallet.waitFor(() => wallet.arrivals(transactionId, 'rollback').length === 2, BESIDE_MS);
}

describe("an operator's deliveries do not wait while another's bets are decided, however far away PostgreSQL is (I7):", () => {
  it('rollbacks that the service has forgotten', async () => {
    const slow = held.postgres.holdRequest('bet-commit', '"errorCode":10');
    const bet = await unknownBet('beta');
    await slow.stopped;
    await expectDelivery();
    slow.release();
    await untilDeliveries(bet, [{ operation: 'rollback', state: 'delivered' }, {}]);
  });

  it('confirmations of bets that were unknown', async () => {
    const slow = held.postgres.holdRequest('confirmation-send');
    const bet = await unknownBet('gamma');
    expect((await bet.rollback()).status).toBe(200);
    await slow.stopped;
    await expectDelivery();
    slow.release();
    await untilDeliveries(bet, [{ purpose: 'confirm', state: 'delivered' }]);
  });
});
