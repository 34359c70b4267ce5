import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { untilDeliveries } from './support/deliveries.ts';

/** Settles that were taken over (`settle.onFailure: queue`), brought home. */

let gateway: TestGateway;
beforeAll(async () => {
  const operator = {
    settle: { onFailure: 'queue' },
    wallet: { breaker: { minRequests: 100_000 } },
  };
  gateway = await startTestGateway({
    worker: true,
    gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 100 } },
    operators: {
      alpha: operator,
      beta: operator,
      gamma: { ...operator, delivery: { horizonHours: 1 / 3_600 } },
    },
  });
});
afterAll(() => gateway.close());

const failing = { kind: 'status', status: 500 } as const;
const amountsOf = (bet: TestBet) =>
  bet.wallet.arrivals(bet.transactionId, 'settle').map(({ amount }) => amount);

/** A bet whose operator went into maintenance after it was placed. */
async function betInMaintenance(): Promise<TestBet> {
  const bet = await placedBet(gateway, { operatorId: 'beta' });
  await gateway.reconfigure('beta', { status: 'maintenance' });
  return bet;
}
const endMaintenance = () => gateway.reconfigure('beta', {});

describe('a settle taken over', () => {
  it('is paid out once the wallet is back, and answered as it was before (I4)', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('settle', failing, { transactionId: bet.transactionId, calls: 2 });
    const promised = await bet.settle('250.50');
    expect(promised.status).toBe(200);
    await untilDeliveries(bet, [{ operation: 'settle', state: 'delivered', attempts: 3 }]);
    expect(bet.balance()).toBe('1150.5');
    expect(amountsOf(bet)).toEqual(['250.50', '250.50', '250.50']);
    const again = await bet.settle('250.5');
    expect([again.status, again.body]).toEqual([200, promised.body]);
    expect((await bet.settle('10')).status).toBe(200);
    expect(bet.balance()).toBe('910');
  });

  it('and never attempted is replaced by its correction: only that arrives', async () => {
    const bet = await betInMaintenance();
    await bet.settle('10');
    await bet.settle('20');
    await endMaintenance();
    await untilDeliveries(bet, [{ state: 'superseded' }, { state: 'delivered' }]);
    expect(amountsOf(bet)).toEqual(['20']);
    expect(bet.balance()).toBe('920');
  });

  it('and never attempted is cancelled by an unsettle: the wallet hears of neither', async () => {
    const bet = await betInMaintenance();
    await bet.settle('10');
    expect((await bet.unsettle()).status).toBe(200);
    await endMaintenance();
    // The next result is brought as if nothing had been.
    const other = await placedBet(gateway, { operatorId: 'beta' });
    other.wallet.misbehave('settle', failing, { transactionId: other.transactionId, calls: 1 });
    await other.settle('30');
    await untilDeliveries(other, [{ state: 'delivered' }]);
    await untilDeliveries(bet, [{ state: 'superseded' }]);
    expect(bet.arrivals()).toEqual(['place']);
    expect((await bet.settle('20')).status).toBe(200);
    expect(bet.balance()).toBe('920');
  });

  it('and attempted is followed in order by what came after it (I6)', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('settle', failing, { transactionId: bet.transactionId, calls: 2 });
    await bet.settle('10');
    await bet.settle('20');
    await bet.unsettle();
    await bet.settle('30');
    const delivered = { state: 'delivered' };
    await untilDeliveries(bet, [delivered, delivered, delivered, delivered]);
    expect(bet.arrivals().slice(1)).toEqual([
      'settle',
      'settle',
      'settle',
      'settle',
      'unsettle',
      'settle',
    ]);
    expect(amountsOf(bet)).toEqual(['10', '10', '10', '20', '30']);
    expect(bet.balance()).toBe('930');
  });

  it('is dead when the wallet refuses it for good: a person has to decide (I4)', async () => {
    const bet = await placedBet(gateway, { operatorId: 'gamma' });
    const about = { transactionId: bet.transactionId };
    bet.wallet.misbehave('settle', failing, { ...about, calls: 1 });
    bet.wallet.misbehave('settle', { kind: 'code', code: 20, message: 'too late' }, about);
    expect((await bet.settle('10')).status).toBe(200);
    const [dead] = await untilDeliveries(bet, [{ operation: 'settle', state: 'dead' }]);
    expect(dead?.attempts).toBeGreaterThan(1);
    expect(bet.balance()).toBe('900');
  });
});
