import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
const IN_EUROS = { currency: '"EUR"' };

describe('a bet that was not placed through here has the currency of its first result (I12)', () => {
  it.each(['unsettle', 'rollback'] as const)(
    'an operation that names another one takes back what was paid: %s',
    async (operation) => {
      const bet = await betFromElsewhere();
      expect((await bet.settle('20')).status).toBe(200);
      // One batch, then the next: the currency is known from the books as well as from the batch itself.
      await bookAll(gateway);
      expect((await bet[operation](IN_EUROS)).status).toBe(200);
      await bookAll(gateway);
      const booked = ['payout 20 USD', 'payout_reversal -20 USD'];
      expect(await bookedOf(bet.transactionId)).toEqual(booked);
    },
  );

  it('an unsettle that takes nothing back says nothing about it, in the same batch either', async () => {
    const bet = await betFromElsewhere();
    expect((await bet.unsettle(IN_EUROS)).status).toBe(200);
    expect((await bet.settle('20')).status).toBe(200);
    await bookAll(gateway);
    expect(await bookedOf(bet.transactionId)).toEqual(['payout 20 USD']);
  });

  it('a lower result takes back a part of it, also in one batch', async () => {
    const bet = await betFromElsewhere();
    expect((await bet.settle('20')).status).toBe(200);
    expect((await bet.settle('5', 'won', undefined, IN_EUROS)).status).toBe(200);
    await bookAll(gateway);
    const booked = ['payout 20 USD', 'payout_reversal -15 USD'];
    expect(await bookedOf(bet.transactionId)).toEqual(booked);
  });
});
