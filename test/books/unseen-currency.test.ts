import { afterAll, beforeAll, expect, it } from 'vitest';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';
import { bookAll, movementsOfBet } from './support/kept-books.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

/** Its wallet took it from another gateway: the journal has never heard of it. */
async function betFromElsewhere(): Promise<TestBet> {
  const bet = await placedBet(gateway);
  const { transactionId } = bet;
  await onServer(gateway.databaseUrl, async (client) => {
    const own = 'SELECT id FROM operations WHERE transaction_id = $1';
    await client.query(`DELETE FROM attempts WHERE operation_id IN (${own})`, [transactionId]);
    await client.query('DELETE FROM operations WHERE transaction_id = $1', [transactionId]);
    await client.query('DELETE FROM bets WHERE transaction_id = $1', [transactionId]);
  });
  return bet;
}

const bookedOf = (transactionId: string) => movementsOfBet(gateway, transactionId, 'currency');
it('a bet that was not placed through here has the currency of its first result (I12)', async () => {
  const bet = await betFromElsewhere();
  expect((await bet.settle('20')).status).toBe(200);
  // One batch, then the next: the currency is known from the books as well as from the batch itself.
  await bookAll(gateway);
  expect((await bet.rollback({ currency: '"EUR"' })).status).toBe(200);
  await bookAll(gateway);
  const booked = ['payout 20 USD', 'payout_reversal -20 USD'];
  expect(await bookedOf(bet.transactionId)).toEqual(booked);
});
