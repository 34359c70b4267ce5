import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rollbackBody } from '../../src/protocol/callback-bodies.ts';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { endLeases, untilDeliveries } from './support/deliveries.ts';

/** Settles that were taken over (`settle.onFailure: queue`), until they are confirmed. */

let gateway: TestGateway;
beforeAll(async () => {
  const operator = {
    settle: { onFailure: 'queue' },
    wallet: { breaker: { minRequests: 100_000 } },
  };
  gateway = await startTestGateway({
    worker: true,
    gateway: {
      service: { trustProxy: ['127.0.0.0/8'] },
      delivery: { minBackoffMs: 50, maxBackoffMs: 100 },
    },
    operators: {
      alpha: operator,
      beta: operator,
      gamma: { ...operator, delivery: { horizonHours: 1 / 3_600 } },
      delta: { ...operator, wallet: { ...operator.wallet, timeoutMs: 2_000 } },
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
/** A rollback that arrives with nearly all of its time spent: it can wait for nothing. */
function rollbackInHaste(bet: TestBet) {
  const headers = { 'x-request-start': `t=${(Date.now() - 4_400) / 1_000}` };
  return gateway.service.call('PUT', '/payment/bet', rollbackBody(bet.slip, 50), { headers });
}
const endMaintenance = () => gateway.reconfigure('beta', {});

describe('a settle accepted as a delivery', () => {
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

  it('and never attempted is cancelled by a rollback that cannot wait (I6)', async () => {
    const bet = await betInMaintenance();
    await bet.settle('10');
    await bet.leaveBusy('update');
    expect((await rollbackInHaste(bet)).status).toBe(200);
    await endLeases(gateway, bet.transactionId);
    await endMaintenance();
    const [settle, rollback] = [{ operation: 'settle' }, { operation: 'rollback' }];
    await untilDeliveries(bet, [
      { ...settle, state: 'superseded' },
      { ...rollback, state: 'delivered' },
    ]);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
    expect(bet.balance()).toBe('1000');
  });
});
