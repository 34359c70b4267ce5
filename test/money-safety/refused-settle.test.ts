import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BY } from '../support/audit.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
import { acceptedBet, untilDeliveriesAre } from './support/bets.ts';
import { PATIENCE, PATIENT, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: {
      alpha: { settle: { onFailure: 'queue' }, ...PATIENT },
    },
  });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

/** The wallet has received the taken-over settle, has not executed it, and keeps failing. */
async function attemptedSettle(): Promise<{ bet: TestBet; stopFailing: () => void }> {
  const bet = await acceptedBet(gateway);
  const { transactionId } = bet;
  const failing = { kind: 'status', status: 500 } as const;
  const stopFailing = bet.wallet.misbehave('settle', failing, { transactionId });
  expect((await bet.settle('20')).status).toBe(200);
  return { bet, stopFailing };
}

/** The wallet has refused the settle for good, and keeps refusing every settle of the bet. */
async function deadSettle(): Promise<{ bet: TestBet; id: string; mendSettles: () => void }> {
  const { bet, stopFailing } = await attemptedSettle();
  const { transactionId } = bet;
  const mendSettles = bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId });
  stopFailing();
  const [dead] = await untilDeliveriesAre(bet, [{ state: 'dead' }]);
  return { bet, id: dead?.id ?? '', mendSettles };
}

describe('rule 10: a promised settle that the wallet refuses for good (I4)', {
  timeout: 60_000,
}, () => {
  it('is dead at once, alarms, and the rollback behind it goes on', async () => {
    const { bet, stopFailing } = await attemptedSettle();
    expect((await bet.rollback()).status).toBe(200);
    const { transactionId } = bet;
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId });
    stopFailing();
    const [settle] = await untilDeliveriesAre(bet, [
      { operation: 'settle', state: 'dead' },
      { operation: 'rollback', state: 'delivered' },
    ]);
    expect(settle?.last_error).toContain('400 code 20');
    expect(bet.balance()).toBe('1000');
    const dead = { operator: 'alpha', operation: 'settle', state: 'dead' };
    await expect
      .poll(() => gateway.metric('gateway_deliveries', dead), PATIENCE)
      .toBeGreaterThan(0);
  });

  it('a rollback that comes later finds nothing in its way: it is tried within its callback', async () => {
    const { bet, stopFailing } = await attemptedSettle();
    const { transactionId } = bet;
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId });
    stopFailing();
    await untilDeliveriesAre(bet, [{ state: 'dead' }]);
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.balance()).toBe('1000');
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
  });

  it('is what the wallet holds once a person has resolved it: a copy is not sent again (I5)', async () => {
    const { bet, id } = await deadSettle();
    await resolve(id);
    const arrived = bet.arrivals().length;
    expect((await bet.settle('20')).status).toBe(200);
    expect(bet.arrivals()).toHaveLength(arrived);
  });

  it('resolved after a later result, it changes nothing about that one (I6)', async () => {
    const { bet, stopFailing } = await attemptedSettle();
    const { transactionId } = bet;
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
    stopFailing();
    const [dead] = await untilDeliveriesAre(bet, [{ state: 'dead' }]);
    expect((await bet.settle('50')).status).toBe(200);
    await resolve(dead?.id ?? '');
    const arrived = bet.arrivals().length;
    expect((await bet.settle('50')).status).toBe(200);
    expect(bet.arrivals()).toHaveLength(arrived);
    expect(bet.balance()).toBe('950');
  });
});

describe('rule 10: a dead settle that was told 200, and a later result that the wallet refused (I4, I6)', () => {
  /** The service was answered 200 for 20, and a refusal for 50. */
  async function refusedBehindDead() {
    const { bet, id, mendSettles } = await deadSettle();
    expect(await bet.settle('50')).toMatchObject({ status: 400, json: { code: 20 } });
    mendSettles();
    return { bet, id };
  }

  it('retried, it is delivered: nothing has passed it', async () => {
    const { bet, id } = await refusedBehindDead();
    await asPerson(gateway, async (admin) => {
      expect(await admin.retry(id, BY)).toMatchObject({ kind: 'retried' });
    });
    await untilDeliveriesAre(bet, [{ state: 'delivered' }]);
    expect(bet.balance()).toBe('920');
  });
});

describe('rule 10: a dead settle is sent no more where the wallet may hold a later result (I6)', () => {
  async function staysDead(id: string): Promise<void> {
    await asPerson(gateway, async (admin) => {
      expect(await admin.retry(id, BY)).toEqual({ kind: 'overtaken' });
    });
  }

  it('as after code 100: the money may have moved before that', async () => {
    const { bet, id, mendSettles } = await deadSettle();
    const { transactionId } = bet;
    mendSettles();
    bet.wallet.misbehave('settle', { kind: 'code', code: 100 }, { transactionId, calls: 1 });
    expect((await bet.settle('50')).status).toBe(503);
    await staysDead(id);
  });

  it('as after a promise that was refused at first, and delivered later', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    gateway.parts.wallets.setOverride('alpha', 'money', 'open');
    expect((await bet.settle('20')).status).toBe(200);
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
    gateway.parts.wallets.setOverride('alpha', 'money', 'auto');
    const [dead] = await untilDeliveriesAre(bet, [{ state: 'dead' }]);
    bet.wallet.misbehave('settle', { kind: 'code', code: 3 }, { transactionId, calls: 1 });
    expect((await bet.settle('50')).status).toBe(200);
    await untilDeliveriesAre(bet, [{ state: 'dead' }, { state: 'delivered' }]);
    await staysDead(dead?.id ?? '');
    expect(bet.balance()).toBe('950');
  });
});

async function resolve(id: string): Promise<void> {
  await asPerson(gateway, async (admin) => {
    expect(await admin.resolve(id, 'ann', 'put right by the operator', BY)).toMatchObject({
      kind: 'resolved',
    });
  });
}
