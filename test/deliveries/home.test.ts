import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

describe('deliveries arrive', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      worker: true,
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 200 } },
      operators: { alpha: { wallet: { breaker: { openMs: 200 } } } },
    });
  });
  afterAll(async () => {
    await gateway.close();
  });

  it('deliver a rollback to a wallet that was down, once it is back (I4)', async () => {
    const wallet = gateway.wallet('alpha');
    const player = await gateway.player({ balance: '100' });
    const placed = await gateway.service.place({ ...player, amount: '40' });
    expect(wallet.balance(player.user, 'USD')).toBe('60');
    await wallet.down();
    const rollback = await gateway.service.rollback(placed.transactionId);
    expect(rollback.kind).toBe('confirmed');
    await wallet.up();
    await wallet.waitFor(() => wallet.balance(player.user, 'USD') === '100', 10_000);
    expect(wallet.arrivals(placed.transactionId, 'rollback')).toHaveLength(1);
  });
});
