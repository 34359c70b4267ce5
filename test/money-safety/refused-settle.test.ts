import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '../deliveries/support/deliveries.ts';
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
  it.each([5, 20, 21, 7])(
    'with code %i it is dead at once, alarms, and the rollback behind it goes on',
    async (code) => {
      const { bet, stopFailing } = await attemptedSettle();
      expect((await bet.rollback()).status).toBe(200);
      const { transactionId } = bet;
      bet.wallet.misbehave('settle', { kind: 'code', code }, { transactionId });
      stopFailing();
      const [settle] = await untilDeliveriesAre(bet, [
        { operation: 'settle', state: 'dead' },
        { operation: 'rollback', state: 'delivered' },
      ]);
      expect(settle?.last_error).toContain(`400 code ${code}`);
      expect(bet.balance()).toBe('1000');
      const dead = { operator: 'alpha', operation: 'settle', state: 'dead' };
      await expect
        .poll(() => gateway.metric('gateway_deliveries', dead), PATIENCE)
        .toBeGreaterThan(0);
    },
  );

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

  it('so does a settle behind it', async () => {
    const { bet, stopFailing } = await attemptedSettle();
    expect((await bet.settle('50')).status).toBe(200);
    const { transactionId } = bet;
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
    stopFailing();
    await untilDeliveriesAre(bet, [{ state: 'dead' }, { state: 'delivered' }]);
    expect(bet.balance()).toBe('950');
  });

  it.each([1, 3, 4, 100])('with code %i it was not delivered, and is retried', async (code) => {
    const { bet, stopFailing } = await attemptedSettle();
    const { transactionId } = bet;
    bet.wallet.misbehave('settle', { kind: 'code', code }, { transactionId, calls: 2 });
    stopFailing();
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'delivered' }]);
    expect(bet.balance()).toBe('920');
  });

  it('a promised unsettle that is refused for good is dead as well', async () => {
    const { bet, stopFailing } = await attemptedSettle();
    expect((await bet.unsettle()).status).toBe(200);
    const { transactionId } = bet;
    bet.wallet.misbehave('unsettle', { kind: 'code', code: 21 }, { transactionId });
    stopFailing();
    await untilDeliveriesAre(bet, [
      { state: 'delivered' },
      { operation: 'unsettle', state: 'dead' },
    ]);
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

  it('so it is where that result came twice, and was not taken the first time either', async () => {
    const { bet, id, mendSettles } = await deadSettle();
    const { transactionId } = bet;
    mendSettles();
    bet.wallet.misbehave('settle', { kind: 'code', code: 1 }, { transactionId, calls: 1 });
    expect((await bet.settle('50')).status).toBe(503);
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
    expect(await bet.settle('50')).toMatchObject({ status: 400, json: { code: 20 } });
    await asPerson(gateway, async (admin) => {
      expect(await admin.retry(id, BY)).toMatchObject({ kind: 'retried' });
    });
    await untilDeliveriesAre(bet, [{ state: 'delivered' }]);
    expect(bet.balance()).toBe('920');
  });

  it('resolved, it is what the wallet holds', async () => {
    const { bet, id } = await refusedBehindDead();
    await resolve(id);
    await isHeldWithoutCall(bet);
  });

  /** The service was answered 200 for 20, and 503 for 50, for which there was no connection. */
  async function unconnectedBehindDead() {
    const { bet, id, mendSettles } = await deadSettle();
    await bet.wallet.down();
    expect((await bet.settle('50')).status).toBe(503);
    await bet.wallet.up();
    mendSettles();
    return { bet, id };
  }

  it('retried, it is delivered also where there was no connection for the later one', async () => {
    const { bet, id } = await unconnectedBehindDead();
    await asPerson(gateway, async (admin) => {
      expect(await admin.retry(id, BY)).toMatchObject({ kind: 'retried' });
    });
    await untilDeliveriesAre(bet, [{ state: 'delivered' }]);
    expect(bet.balance()).toBe('920');
  });

  it('and resolved, it is what the wallet holds there too', async () => {
    const { bet, id } = await unconnectedBehindDead();
    await resolve(id);
    await isHeldWithoutCall(bet);
  });

  /** As an earlier build records an attempt that never left: by its reason alone. */
  async function unsentByEarlierBuild() {
    const { bet, id } = await unconnectedBehindDead();
    await sql(
      gateway,
      `UPDATE attempts SET sent = NULL, result = 'deadline'
        WHERE NOT sent AND operation_id IN (SELECT id FROM operations WHERE transaction_id = $1)`,
      [bet.transactionId],
    );
    return { bet, id };
  }

  it('both also where an earlier build has recorded that the later one never left', async () => {
    const { bet, id } = await unsentByEarlierBuild();
    await asPerson(gateway, async (admin) => {
      expect(await admin.retry(id, BY)).toMatchObject({ kind: 'retried' });
    });
    await untilDeliveriesAre(bet, [{ state: 'delivered' }]);
    const other = await unsentByEarlierBuild();
    await resolve(other.id);
    await isHeldWithoutCall(other.bet);
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

async function isHeldWithoutCall(bet: TestBet): Promise<void> {
  const arrived = bet.arrivals().length;
  expect((await bet.settle('20')).status).toBe(200);
  expect(bet.arrivals()).toHaveLength(arrived);
}

async function resolve(id: string): Promise<void> {
  await asPerson(gateway, async (admin) => {
    expect(await admin.resolve(id, 'ann', 'put right by the operator', BY)).toMatchObject({
      kind: 'resolved',
    });
  });
}
