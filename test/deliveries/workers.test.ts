import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import type { GatewayProcess } from '../support/processes.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { endLeases, sql, untilDeliveries } from './support/deliveries.ts';
import { startWorkerProcess } from './support/worker-process.ts';

const failing = { kind: 'status', status: 500 } as const;

/** Bets under way at once: with more, a busy machine answers too many too late. */
const LANES = 8;

/** Bets whose rollback is promised, and not due before `allDue`. */
async function promisedBets(gateway: TestGateway, count: number): Promise<readonly TestBet[]> {
  const player = await gateway.player();
  const bets: TestBet[] = [];
  const lane = async () => {
    for (let bet = 0; bet < count / LANES; bet += 1) {
      const placed = await placedBet(gateway, { player, amount: '1' });
      const { transactionId } = placed;
      placed.wallet.misbehave('rollback', failing, { transactionId, calls: 1 });
      expect((await placed.rollback()).status).toBe(200);
      bets.push(placed);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return bets;
}

/** Makes all of them due, so that the next sweep of each worker finds them. */
const allDue = (gateway: TestGateway) =>
  sql(gateway, `UPDATE deliveries SET next_attempt_at = clock_timestamp() WHERE state = 'pending'`);

describe('several workers', () => {
  let redis: TcpProxy;
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      worker: true,
      gateway: { delivery: { minBackoffMs: 60_000, maxBackoffMs: 60_000 } },
      operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
      through: async (urls) => {
        redis = await startTcpProxy(urls.redisUrl);
        return { ...urls, redisUrl: redis.through(urls.redisUrl) };
      },
    });
    await gateway.replica();
    await gateway.replica();
  });
  afterAll(() => gateway.close());

  it('deliver it once: it arrives a single time (I5)', async () => {
    const bets = await promisedBets(gateway, 16);
    await allDue(gateway);
    for (const bet of bets) {
      await untilDeliveries(bet, [{ state: 'delivered', attempts: 2 }]);
      expect(bet.arrivals()).toEqual(['place', 'rollback', 'rollback']);
    }
  });

  it('do so even if no scheduler keeps them apart, because Redis is away (I5)', async () => {
    await redis.cut();
    const bets = await promisedBets(gateway, 48);
    const gate = gateway.wallet('alpha').hold('rollback');
    await allDue(gateway);
    // Eight calls at once each: all three are working.
    await gate.arrivedTimes(3 * 8);
    gate.release();
    for (const bet of bets) {
      await untilDeliveries(bet, [{ state: 'delivered', attempts: 2 }]);
      expect(bet.arrivals()).toEqual(['place', 'rollback', 'rollback']);
    }
    await redis.restore();
  });
});

describe('a worker that is killed', () => {
  let gateway: TestGateway;
  const workers: GatewayProcess[] = [];
  beforeAll(async () => {
    gateway = await startTestGateway({
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 500 } },
      operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
    });
    workers.push(await startWorkerProcess(gateway), await startWorkerProcess(gateway));
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await gateway.close();
  });

  it('after the wallet confirmed, before that was recorded: repeated, no second effect (I4)', async () => {
    const wallet = gateway.wallet('alpha');
    const player = await gateway.player();
    const bet = await placedBet(gateway, { player });
    const gate = wallet.hold('rollback', { point: 'after' });
    wallet.misbehave('rollback', failing, { calls: 1 });
    const answer = bet.rollback();
    await gate.arrived;
    gate.release();
    expect((await answer).status).toBe(200);

    const booked = wallet.hold('rollback', { point: 'after' });
    await booked.arrived;
    expect(bet.balance()).toBe('1000');
    // Whichever of the two it was, both are killed, and a third one starts.
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    booked.release();
    await untilDeliveries(bet, [{ state: 'pending', attempts: 2 }]);
    await endLeases(gateway, bet.transactionId);
    workers.push(await startWorkerProcess(gateway));
    await untilDeliveries(bet, [{ state: 'delivered', attempts: 3 }], 20_000);
    const results = wallet.arrivals(bet.transactionId, 'rollback').map(({ result }) => result);
    expect(results).toEqual(['unbooked', 'applied', 'repeated']);
    expect(bet.balance()).toBe('1000');
  });
});
