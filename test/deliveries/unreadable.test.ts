import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptedBet, lose, makeDue } from '../money-safety/support/bets.ts';
import { PATIENCE, PATIENT, QUICK } from '../money-safety/support/patience.ts';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { deliveriesOf, sql } from './support/deliveries.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: { delivery: { ...QUICK.delivery, originateRollbackAfterMs: 3_000 } },
    operators: { alpha: PATIENT, beta: PATIENT },
  });
});
afterAll(() => gateway.close());

/** The wallet has accepted the place, and its answer was lost. */
async function lostPlace(operatorId = 'alpha'): Promise<TestBet> {
  const bet = await unplacedBet(gateway, { operatorId });
  lose(bet, 'place');
  expect((await bet.place()).json?.code).toBe(100);
  return bet;
}

/** As left by somebody who has repaired it by hand, but only half, while nothing of it is on its way. */
async function halfSettled(bet: TestBet): Promise<void> {
  const text = `
    UPDATE bets SET settlement = 'settled', settlement_amount = NULL, version = version + 1
     WHERE transaction_id = $1 AND busy_attempt IS NULL RETURNING 1`;
  const change = async () => (await sql(gateway, text, [bet.transactionId])).length;
  await expect.poll(change, { ...PATIENCE, interval: 5 }).toBe(1);
}

describe('a bet whose row cannot be read keeps no other waiting (I4, I7)', {
  timeout: 90_000,
}, () => {
  it('from its delivery', async () => {
    const [odd, sound] = [await acceptedBet(gateway), await acceptedBet(gateway)];
    const { wallet } = odd;
    wallet.misbehave('rollback', { kind: 'reset' });
    for (const bet of [odd, sound]) expect((await bet.rollback()).status).toBe(200);
    await halfSettled(odd);
    wallet.behave();
    const states = async () => (await deliveriesOf(sound)).map(({ state }) => state);
    await expect.poll(states, PATIENCE).toEqual(['delivered']);
    expect(odd.balance()).toBe('900');
  });

  it('from being confirmed, whoever’s it is', async () => {
    const [odd, sound] = [await lostPlace(), await lostPlace('beta')];
    for (const bet of [odd, sound]) expect((await bet.rollback()).status).toBe(200);
    await halfSettled(odd);
    for (const bet of [odd, sound]) await makeDue(bet, 'first');
    await expect.poll(() => sound.arrivals(), PATIENCE).toEqual(['place', 'rollback', 'rollback']);
  });
});
