import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveriesOf, endLeases, untilDeliveries } from '../deliveries/support/deliveries.ts';
import { BY } from '../support/audit.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';

/** `unknownRepeats: hold`: to a wallet that pays repeats again, only a person may send one. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: {
      delivery: { minBackoffMs: 50, maxBackoffMs: 100, confirmUnknownAfterMs: 200 },
      deadline: { totalMs: 4_000, reserveMs: 300 },
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

  it('is sent again when a person retries it, and is answered 200 from then on', async () => {
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

  it('is answered 200 once a person has resolved it, and not sent again (I5)', async () => {
    const bet = await placedBet(gateway, { operatorId });
    const { transactionId } = bet;
    const lost = { kind: 'reset', effect: 'applied' } as const;
    bet.wallet.misbehave('settle', lost, { transactionId, calls: 1 });
    expect((await bet.settle('20')).status).toBe(503);
    const [dead] = await untilDeliveries(bet, [{ state: 'dead' }]);
    const { id = '' } = dead ?? {};
    await asPerson(gateway, async (admin) => {
      const resolved = await admin.resolve(id, 'ann', 'the wallet has paid it', BY);
      expect(resolved).toMatchObject({ kind: 'resolved' });
    });
    expect((await bet.settle('20')).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'settle']);
    expect((await bet.settle('50')).status).toBe(200);
    expect(bet.balance()).toBe('950');
  });
});

describe('a settle whose process is killed in the middle of the call', () => {
  /** The call takes long and its lease ends, as if nobody were left to finish it. */
  async function killed() {
    const bet = await placedBet(gateway, { operatorId: 'alpha' });
    const { transactionId } = bet;
    const hanging = { kind: 'hang', effect: 'applied' } as const;
    bet.wallet.misbehave('settle', hanging, { transactionId, calls: 1 });
    const asked = bet.settle('20');
    await bet.wallet.waitFor(() => bet.arrivals().includes('settle'));
    await endLeases(gateway, transactionId);
    return { bet, asked };
  }

  it('is a dead letter too: the repeats are answered 503, a person decides (I4, I5)', async () => {
    const { bet, asked } = await killed();
    await untilDeliveries(bet, [
      { operation: 'settle', state: 'dead', last_error: expect.stringContaining('was lost') },
    ]);
    expect((await asked).status).toBe(503);
    expect((await bet.settle('20')).status).toBe(503);
    expect(await deliveriesOf(bet)).toHaveLength(1);
    expect(bet.arrivals()).toEqual(['place', 'settle']);
    expect(bet.balance()).toBe('920');
  });
});

async function retry(id: string): Promise<void> {
  await asPerson(gateway, async (admin) => {
    expect(await admin.retry(id, BY)).toMatchObject({ kind: 'retried' });
  });
}
