import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import type { GatewayProcess } from '../support/processes.ts';
import { sql, untilDeliveries } from './support/deliveries.ts';
import { startWorkerProcess } from './support/worker-process.ts';

let gateway: TestGateway;
let worker: GatewayProcess;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 100, horizonHours: 1.5 / 3600 } },
    operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
  });
  worker = await startWorkerProcess(gateway);
});
afterAll(async () => {
  await worker.stop();
  await gateway.close();
});

async function promised(): Promise<TestBet> {
  const bet = await placedBet(gateway);
  bet.wallet.misbehave('rollback', { kind: 'code', code: 5 }, { transactionId: bet.transactionId });
  await bet.rollback();
  return bet;
}

describe('a delivery that no wallet confirms within its horizon', () => {
  it('becomes a dead letter with an alert, and waits for a person (I4)', async () => {
    const bet = await promised();
    const [dead] = await untilDeliveries(bet, [{ state: 'dead' }]);
    expect(dead?.attempts).toBeGreaterThan(1);
    expect(dead?.last_error).toBeTruthy();
    const line = await worker.waitForLine(
      ({ json }) =>
        String(json?.msg).startsWith('delivery.dead') && json?.transactionId === bet.transactionId,
    );
    expect(line.json).toMatchObject({
      level: 50,
      operator: 'alpha',
      operation: 'rollback',
      delivery: dead?.id,
      attempt: dead?.attempts,
      code: 5,
    });

    // The wallet would accept it now, but nobody has had it retried.
    bet.wallet.behave();
    const other = await placedBet(gateway);
    const about = { transactionId: other.transactionId, calls: 1 };
    other.wallet.misbehave('rollback', { kind: 'status', status: 500 }, about);
    await other.rollback();
    await untilDeliveries(other, [{ state: 'delivered' }]);
    await untilDeliveries(bet, [{ state: 'dead', attempts: dead?.attempts ?? 0 }]);
    expect(bet.balance()).toBe('900');
  });

  it('is tried again when a person asks, and is delivered if the wallet then confirms', async () => {
    const bet = await promised();
    await sql(
      gateway,
      `UPDATE deliveries SET dead_at = clock_timestamp() WHERE transaction_id = $1`,
      [bet.transactionId],
    );
    bet.wallet.behave();
    await untilDeliveries(bet, [{ state: 'delivered' }]);
  });
});
