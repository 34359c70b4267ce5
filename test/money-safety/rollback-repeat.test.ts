import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { acceptedBet, lose, timeComes, untilDeliveriesAre } from './support/bets.ts';
import { PATIENT, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT },
  });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

describe('rule 12: a repeated rollback gives the first answer again (I5)', {
  timeout: 60_000,
}, () => {
  it('as the wallet confirmed it, transactionTime included', async () => {
    const bet = await acceptedBet(gateway);
    const first = await bet.rollback();
    expect(first.json?.transactionTime).toBe(
      bet.wallet.bets.get(bet.transactionId)?.times.rollback,
    );
    const again = await bet.rollback();
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });

  it('as it was promised, before and after a wallet has confirmed it, whatever that says', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    bet.wallet.misbehave('rollback', { kind: 'reset' }, { transactionId, calls: 1 });
    bet.wallet.misbehave('rollback', { kind: 'code', code: 8 }, { transactionId, calls: 1 });
    const first = await bet.rollback();
    expect(first.status).toBe(200);
    expect((await bet.rollback()).body).toBe(first.body);
    await untilDeliveriesAre(bet, [{ state: 'delivered' }]);
    expect((await bet.rollback()).body).toBe(first.body);
  });

  it('after it was confirmed again, whatever the wallet says to that', async () => {
    const bet = await unplacedBet(gateway);
    lose(bet, 'place');
    expect((await bet.place()).json?.code).toBe(100);
    const first = await bet.rollback();
    const { transactionId } = bet;
    bet.wallet.misbehave('rollback', { kind: 'code', code: 8 }, { transactionId });
    await timeComes(bet, 'first');
    expect((await bet.rollback()).body).toBe(first.body);
  });

  it('to copies that come at the same time, at another replica too', async () => {
    const bet = await acceptedBet(gateway);
    const replica = await gateway.replica();
    const gate = bet.wallet.hold('rollback', { transactionId: bet.transactionId });
    const first = bet.rollback();
    await gate.arrived;
    const copies = [bet.rollback(), bet.at(replica).rollback()];
    await bet.isWaitedFor();
    gate.release();
    const bodies = new Set([first, ...copies].map(async (answer) => (await answer).body));
    expect(new Set(await Promise.all(bodies)).size).toBe(1);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });
});
