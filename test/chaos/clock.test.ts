import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { untilDeliveries } from '../deliveries/support/deliveries.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const DAY_MS = 86_400_000;

/** The machine's own clock, which somebody sets while the gateway runs; the monotonic clock is not affected. */
class JumpingClock implements Clock {
  offMs = 0;
  nowMs = () => systemClock.nowMs() + this.offMs;
  monotonicMs = () => systemClock.monotonicMs();
}

describe('a machine whose clock jumps', { timeout: 60_000 }, () => {
  const clock = new JumpingClock();
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      worker: true,
      clock,
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 200, horizonHours: 1 } },
      operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
    });
  });
  afterAll(() => gateway.close());

  it.each([
    ['a day ahead', DAY_MS],
    ['a day back', -DAY_MS],
  ])('%s keeps its promises: none dies early, none waits longer (I1, I4)', async (_, offMs) => {
    const bet = await placedBet(gateway, { operatorId: 'alpha' });
    const stopFailing = bet.wallet.misbehave('rollback', { kind: 'status', status: 500 });
    expect((await bet.rollback()).status).toBe(200);
    clock.offMs = offMs;
    // Horizon and back-off use PostgreSQL's clock: the delivery is retried, and not dead.
    await untilDeliveries(bet, [{ state: 'pending', attempts: 3 }]);
    stopFailing();
    await untilDeliveries(bet, [{ state: 'delivered' }]);
    clock.offMs = 0;
  });

  it.each([
    ['ahead', DAY_MS / 24],
    ['back', -DAY_MS],
  ])(
    '%s while a bet is under way answers it in time and pays it once (I1, I5)',
    async (_, offMs) => {
      const player = await gateway.player({ balance: '100' });
      const transactionId = randomUUID();
      const gate = gateway.wallet('alpha').hold('place', { transactionId });
      const placing = gateway.service.place({ ...player, amount: '40', transactionId });
      await gate.arrived;
      clock.offMs = offMs;
      gate.release();
      const placed = await placing;
      expect(placed.kind).toBe('accepted');
      await gateway.service.settle(placed.transactionId, { amount: '90', resultType: 'won' });
      expect(gateway.wallet('alpha').balance(player.user, 'USD')).toBe('150');
      clock.offMs = 0;
    },
  );
});
