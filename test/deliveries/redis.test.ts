import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onRedis } from '../support/redis.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { untilDeliveries } from './support/deliveries.ts';

/** Redis only makes deliveries faster: no promise depends on it. */

let redis: TcpProxy;
let redisUrl: string;
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 500 } },
    operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
    through: async (urls) => {
      redisUrl = urls.redisUrl;
      redis = await startTcpProxy(urls.redisUrl);
      return { ...urls, redisUrl: redis.through(urls.redisUrl) };
    },
  });
});
afterAll(() => gateway.close());
afterEach(() => redis.restore());

/** Bets whose rollbacks the wallet could not accept; from now on it does. */
async function promisedBets(count: number): Promise<readonly TestBet[]> {
  const player = await gateway.player();
  const bets = await Promise.all(
    Array.from({ length: count }, () => placedBet(gateway, { player, amount: '1' })),
  );
  const behave = gateway.wallet('alpha').misbehave('rollback', { kind: 'status', status: 500 });
  const answers = await Promise.all(bets.map((bet) => bet.rollback()));
  behave();
  expect(answers.map(({ status }) => status)).toEqual(bets.map(() => 200));
  return bets;
}

/** Each was delivered, and changed the wallet's books once. */
async function expectHome(bets: readonly TestBet[], withinMs?: number): Promise<void> {
  for (const bet of bets) {
    await untilDeliveries(bet, [{ state: 'delivered' }], withinMs);
    const results = bet.wallet.arrivals(bet.transactionId, 'rollback').map(({ result }) => result);
    expect(results.filter((result) => result === 'applied')).toHaveLength(1);
  }
}

describe('promised deliveries arrive (I4)', () => {
  it('although Redis is flushed again and again meanwhile', async () => {
    const wallet = gateway.wallet('alpha');
    const bets = await promisedBets(20);
    const gate = wallet.hold('rollback');
    await gate.arrived;
    await onRedis(redisUrl, async (client) => {
      await client.flushall();
      gate.release();
      const isHome = ({ transactionId }: TestBet) =>
        wallet.bets.get(transactionId)?.status === 'rolled_back';
      await vi.waitFor(
        async () => {
          await client.flushall();
          expect(bets.filter(isHome)).toHaveLength(bets.length);
        },
        { timeout: 15_000, interval: 20 },
      );
    });
    await expectHome(bets);
  });

  it('without Redis', async () => {
    await redis.cut();
    await expectHome(await promisedBets(5));
  });

  it('although Redis no longer answers', async () => {
    redis.freeze();
    await expectHome(await promisedBets(5));
  });
});

it('a worker ends in time though Redis is gone: a deploy must not hang on it', async () => {
  const worker = gateway.parts.deliveryWorker();
  worker.start();
  await redis.cut();
  await worker.close();
});
