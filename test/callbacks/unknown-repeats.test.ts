import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveriesOf, untilDeliveries } from '../deliveries/support/deliveries.ts';
import { BY } from '../support/audit.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** `unknownRepeats: hold`: a wallet that pays a repeat again is never sent one but by a person. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: {
      delivery: { minBackoffMs: 50, maxBackoffMs: 100, confirmUnknownAfterMs: 200 },
      deadline: { totalMs: 2_000, reserveMs: 300 },
    },
    operators: {
      alpha: {
        wallet: { dialect: { unknownRepeats: 'hold' }, breaker: { minRequests: 100_000 } },
      },
      queue: {
        wallet: { dialect: { unknownRepeats: 'hold' }, breaker: { minRequests: 100_000 } },
        settle: { onFailure: 'queue' },
      },
    },
  });
});
afterAll(() => gateway.close());

describe.each(['alpha', 'queue'])('a settle whose answer is lost, at %s', (operatorId) => {
  it('is answered 503, is a dead letter at once, and is never sent again by itself (I5)', async () => {
    const bet = await placedBet(gateway, { operatorId });
    const { transactionId } = bet;
    bet.wallet.misbehave(
      'settle',
      { kind: 'reset', effect: 'applied' },
      { transactionId, calls: 1 },
    );
    expect((await bet.settle('20')).status).toBe(503);
    await untilDeliveries(bet, [{ operation: 'settle', state: 'dead' }]);
    expect((await bet.settle('20')).status).toBe(503);
    expect((await bet.unsettle()).status).toBe(503);
    expect(bet.arrivals()).toEqual(['place', 'settle']);
    expect(bet.balance()).toBe('920');
  });

  it('goes out once more where a person retries it, and is answered 200 from then on', async () => {
    const bet = await placedBet(gateway, { operatorId });
    const { transactionId } = bet;
    bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId, calls: 1 });
    expect((await bet.settle('20')).status).toBe(503);
    const [dead] = await untilDeliveries(bet, [{ state: 'dead' }]);
    await retry(dead?.id ?? '');
    await untilDeliveries(bet, [{ state: 'delivered' }]);
    expect((await bet.settle('20')).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'settle', 'settle']);
    expect(await deliveriesOf(bet)).toHaveLength(1);
  });
});

async function retry(id: string): Promise<void> {
  const { DeliveryAdmin } = await import('../../src/store/deliveries/delivery-admin.ts');
  const { createPrisma } = await import('../../src/store/schema/prisma.ts');
  const prisma = createPrisma(gateway.databaseUrl);
  const admin = new DeliveryAdmin({ prisma, isHeld: () => false, horizonHours: () => 1 });
  expect(await admin.retry(id, BY)).toMatchObject({ kind: 'retried' });
  await prisma.$disconnect();
}
