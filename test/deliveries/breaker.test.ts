import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { attemptsOf, countStatements, deliveriesOf, untilDeliveries } from './support/deliveries.ts';

const OPEN_MS = 300;

let gateway: TestGateway;
beforeAll(async () => {
  const quickToOpen = { breaker: { minRequests: 3, openMs: OPEN_MS, windowMs: 10_000 } };
  gateway = await startTestGateway({
    worker: true,
    // Far beyond any test: whatever comes home comes because the breaker closed.
    gateway: { delivery: { minBackoffMs: 100_000, maxBackoffMs: 300_000 } },
    operators: {
      alpha: { wallet: quickToOpen, settle: { onFailure: 'queue' } },
      beta: { wallet: quickToOpen, settle: { onFailure: 'queue' } },
      gamma: { wallet: quickToOpen },
      delta: { wallet: { maxConcurrent: { money: 1 } } },
    },
  });
});
afterAll(() => gateway.close());

/** When an operator's breaker closes, on the wall clock. */
function closedAt(operatorId: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const forget = gateway.parts.wallets.onBreakerChange((change) => {
    const { callClass, state } = change;
    if (change.operatorId !== operatorId || callClass !== 'money' || state !== 'closed') return;
    forget();
    resolve(Date.now());
  });
  return promise;
}

const breakerOf = (operatorId: string) =>
  gateway.parts.wallets.get(operatorId)?.breakerState('money');
const untilBreaker = (operatorId: string, state: string) =>
  vi.waitFor(() => expect(breakerOf(operatorId)).toBe(state), { timeout: 5_000, interval: 5 });

async function placedBets(operatorId: string, count: number): Promise<readonly TestBet[]> {
  const player = await gateway.player({ operatorId });
  return await Promise.all(
    Array.from({ length: count }, () => placedBet(gateway, { operatorId, player, amount: '1' })),
  );
}

describe('when the breaker closes', () => {
  it('everything flows within two seconds, not at the end of its back-off (I4)', async () => {
    const bets = await placedBets('alpha', 20);
    const behave = gateway.wallet('alpha').misbehave('any', { kind: 'status', status: 500 });
    await Promise.all(bets.map((bet) => bet.rollback()));
    expect(breakerOf('alpha')).not.toBe('closed');
    const closed = closedAt('alpha');
    behave();
    const closedAtMs = await closed;
    for (const bet of bets) {
      const [delivery] = await untilDeliveries(bet, [{ state: 'delivered' }]);
      expect(delivery?.settled_at?.getTime()).toBeLessThan(closedAtMs + 2_000);
    }
  });
});

describe('a half-open breaker', () => {
  it('tries a delivery that may go, not one that waits behind another (I6)', async () => {
    const [bet, ...others] = await placedBets('beta', 4);
    if (bet === undefined) throw new Error('no bet');
    const wallet = gateway.wallet('beta');
    const behave = wallet.misbehave('any', { kind: 'status', status: 500 });
    // A settle that was attempted, and behind it a rollback that is due and may not go yet.
    expect((await bet.settle('10')).status).toBe(200);
    expect((await bet.rollback()).status).toBe(200);
    await Promise.all(others.map((other) => other.place()));
    const calls = () => wallet.requests.length;
    await Promise.all(others.map((other) => other.settle('5', 'cashout', other.player.token)));
    await untilBreaker('beta', 'half_open');
    expect(calls()).toBeGreaterThan(3);
    behave();
    await untilBreaker('beta', 'closed');
    await untilDeliveries(bet, [{ state: 'delivered' }, { state: 'delivered' }]);
    expect(bet.arrivals()).toEqual(['place', 'settle', 'settle', 'rollback']);
    expect(bet.balance()).toBe('997');
  });

  it('does not keep PostgreSQL busy where only data updates wait: they wait for money', async () => {
    const bets = await placedBets('gamma', 5);
    const [bet, ...others] = bets;
    if (bet === undefined) throw new Error('no bet');
    const wallet = gateway.wallet('gamma');
    const behave = wallet.misbehave('any', { kind: 'status', status: 500 });
    await Promise.all(others.map((other) => other.settle('5')));
    expect((await bet.update('1.5')).status).toBe(200);
    behave();
    await untilBreaker('gamma', 'half_open');
    const takes = await countStatements(gateway, 'delivery-take', () =>
      countStatements.pause(gateway, 3),
    );
    expect(takes).toBeLessThan(10);
    expect(bet.arrivals()).toEqual(['place']);
    // A call of money closes it, and the update goes.
    expect((await bet.settle('1')).status).toBe(200);
    await untilDeliveries(bet, [{ state: 'delivered', operation: 'update' }]);
  });
});
