import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** What unsettle shares with settle (not delivered, conflicts, waiting) is in settle-*.test.ts. */
describe('unsettle', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.close());

  it('takes the payout back and passes the wallet’s transactionTime on', async () => {
    const bet = await placedBet(gateway);
    await bet.settle('10');
    const answer = await bet.unsettle();
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      transactionId: bet.transactionId,
      transactionTime: bet.wallet.bets.get(bet.transactionId)?.times.unsettle,
    });
    expect(bet.balance()).toBe('900');
  });

  it('is one call when it comes twice, whatever amount the repeat names (I5)', async () => {
    const bet = await placedBet(gateway);
    await bet.settle('10');
    const first = await bet.unsettle();
    const again = await bet.unsettle({ amount: '10.00' });
    const other = await bet.unsettle({ amount: '0' });
    expect([again.body, other.body]).toEqual([first.body, first.body]);
    expect(bet.arrivals()).toEqual(['place', 'settle', 'unsettle']);
    expect(await gateway.metric('gateway_duplicates_total', { operation: 'unsettle' })).toBe(2);
  });

  it('asks for the bet’s state, not its history: after another settle it is sent again', async () => {
    const bet = await placedBet(gateway);
    for (let round = 0; round < 2; round += 1) {
      expect((await bet.settle('10')).status).toBe(200);
      expect((await bet.unsettle()).status).toBe(200);
    }
    expect(bet.arrivals()).toEqual(['place', 'settle', 'unsettle', 'settle', 'unsettle']);
    expect(bet.balance()).toBe('900');
  });

  it.each([5, 7, 8, 20, 21])(
    'passes the refusal with code %i on, and may be tried again',
    async (code) => {
      const bet = await placedBet(gateway);
      await bet.settle('10');
      bet.wallet.misbehave('unsettle', { kind: 'code', code, message: 'No' }, { calls: 1 });
      const refused = await bet.unsettle();
      expect([refused.status, refused.json]).toEqual([400, { code, message: 'No' }]);
      expect((await bet.unsettle()).status).toBe(200);
      expect(bet.arrivals()).toEqual(['place', 'settle', 'unsettle', 'unsettle']);
    },
  );
});
