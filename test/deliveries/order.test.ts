import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DeliveryStore } from '../../src/store/deliveries/queue.ts';
import { placedBet, type TestBet } from '../support/bet.ts';
import { replaceFile, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { deliveriesOf, endLeases, untilDeliveries } from './support/deliveries.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: {
      delivery: { minBackoffMs: 50, maxBackoffMs: 100 },
      deadline: { totalMs: 2_000, reserveMs: 300 },
    },
    operators: {
      alpha: { settle: { onFailure: 'queue' }, wallet: { breaker: { minRequests: 100_000 } } },
      beta: {},
      gamma: { settle: { onFailure: 'queue' } },
    },
  });
});
afterAll(() => gateway.close());

const failing = { kind: 'status', status: 500 } as const;

describe('the deliveries of one bet', () => {
  it('go one at a time: what comes meanwhile waits until the one in flight has ended (I6)', async () => {
    const own = await startTestGateway({
      worker: true,
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 100 } },
      operators: { alpha: { settle: { onFailure: 'queue' } } },
    });
    onTestFinished(() => own.close());
    const bet = await placedBet(own);
    bet.wallet.misbehave('settle', failing, { transactionId: bet.transactionId, calls: 1 });
    expect((await bet.settle('10')).status).toBe(200);
    const gate = bet.wallet.hold('any', { transactionId: bet.transactionId });
    await gate.arrived;
    // From now on nobody waits as long as the held call may take.
    const path = join(own.configFolder, 'gateway.yaml');
    await replaceFile(path, `${await readFile(path, 'utf8')}deadline: { totalMs: 1500 }\n`);
    await own.reload();
    const answers = Promise.all([bet.update('1.5'), bet.rollback()]);
    expect((await answers).map(({ status }) => status)).toEqual([200, 200]);
    expect(gate.held).toBe(1);
    gate.release();
    // Whichever came first: an update behind a rollback is not even stored.
    const ends = async () =>
      (await deliveriesOf(bet))
        .filter(({ operation }) => operation !== 'update')
        .map(({ operation, state }) => `${operation} ${state}`);
    await expect.poll(ends).toEqual(['settle delivered', 'rollback delivered']);
    expect(bet.arrivals().slice(0, 3)).toEqual(['place', 'settle', 'settle']);
    expect(bet.arrivals().at(-1)).toBe('rollback');
    expect(bet.arrivals()).not.toContain('update');
    expect(bet.balance()).toBe('1000');
  });

  it('go in order where one was attempted: first the settle, then the rollback (I6)', async () => {
    const bet = await placedBet(gateway);
    const about = { transactionId: bet.transactionId, calls: 3 };
    bet.wallet.misbehave('settle', failing, about);
    await bet.settle('10');
    await bet.rollback();
    await untilDeliveries(bet, [{ state: 'delivered' }, { state: 'delivered' }]);
    expect(bet.arrivals()).toEqual(['place', 'settle', 'settle', 'settle', 'settle', 'rollback']);
    expect(bet.balance()).toBe('1000');
  });

  it('end with the rollback: queued updates and a settle never attempted are dropped (I6)', async () => {
    await gateway.reconfigure('gamma', { status: 'maintenance' });
    const bet = await placedBetIn('gamma');
    await bet.settle('10');
    await bet.update('1.4');
    await bet.rollback();
    await untilDeliveries(bet, [
      { operation: 'settle', state: 'superseded' },
      { operation: 'update', state: 'superseded' },
      { operation: 'rollback', state: 'pending' },
    ]);
    await gateway.reconfigure('gamma', {});
    await untilDeliveries(bet, [
      { state: 'superseded' },
      { state: 'superseded' },
      { state: 'delivered' },
    ]);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });
});

/** A bet placed while its operator was active; then the operator gets its state. */
async function placedBetIn(operatorId: string): Promise<TestBet> {
  await gateway.reconfigure(operatorId, {});
  const bet = await placedBet(gateway, { operatorId });
  await gateway.reconfigure(operatorId, { status: 'maintenance' });
  return bet;
}

describe('a data update', () => {
  it('never stands in the way of money, however often it fails (I6)', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('update', failing, { transactionId: bet.transactionId });
    await bet.update('1.4');
    await untilDeliveries(bet, [{ operation: 'update', attempts: 2 }]);
    expect((await bet.settle('10')).status).toBe(200);
    expect(bet.arrivals()).toContain('settle');
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals().at(-1)).toBe('rollback');
    await untilDeliveries(bet, [{ operation: 'update', state: 'superseded' }]);
    expect(bet.balance()).toBe('1000');
  });
});

describe('behind an update that a killed worker has left in flight', () => {
  /** Promised, claimed, and never finished. */
  async function abandonedUpdate(): Promise<TestBet> {
    const bet = await placedBet(gateway, { operatorId: 'beta' });
    // So that nobody else claims it.
    gateway.parts.wallets.setOverride('beta', 'money', 'open');
    await bet.update('1.4');
    const { taken } = await new DeliveryStore(gateway.parts.database).take('beta', {
      generation: 1,
      limit: 1,
    });
    expect(taken).toMatchObject([{ transactionId: bet.transactionId, operation: 'update' }]);
    gateway.parts.wallets.setOverride('beta', 'money', 'auto');
    return bet;
  }

  it('a rollback comes, and the update never again (I6)', async () => {
    const bet = await abandonedUpdate();
    expect((await bet.rollback()).status).toBe(200);
    await untilDeliveries(bet, [{ state: 'pending' }, { state: 'pending' }]);
    await endLeases(gateway, bet.transactionId);
    await untilDeliveries(bet, [{ state: 'superseded' }, { state: 'delivered' }]);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });
});
