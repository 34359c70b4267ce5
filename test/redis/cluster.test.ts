import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { untilDeliveries } from '../deliveries/support/deliveries.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type RedisCluster, startRedisCluster } from './support/cluster.ts';

const PATIENT = { timeout: 30_000, interval: 100 };
const NODES = 3;

describe('Redis Cluster', { timeout: 90_000 }, () => {
  let cluster: RedisCluster;
  let gateway: TestGateway;
  beforeAll(async () => {
    cluster = await startRedisCluster(NODES);
    gateway = await startTestGateway({
      worker: true,
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 200 } },
      operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
      through: async ({ databaseUrl }) => ({
        databaseUrl,
        redisUrl: cluster.url,
      }),
    });
  });
  afterAll(async () => {
    await gateway.close();
    await cluster.close();
  });

  const keys = async () => {
    const found = await Promise.all(cluster.nodes.map(({ client }) => client.keys('*')));
    return found.map((ofNode) => ofNode.length);
  };

  it('holds answers and sessions on all its nodes', async () => {
    for (let bet = 0; bet < 30; bet += 1) await placedBet(gateway);
    // A node that connected slowly is not asked for a while; later bets reach it.
    await vi.waitFor(async () => {
      await placedBet(gateway);
      expect(Math.min(...(await keys()))).toBeGreaterThan(0);
    }, PATIENT);
  });

  it('wakes the deliveries (I4)', async () => {
    const before = await gateway.metric('gateway_drains_total', { by: 'scheduler' });
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('rollback', { kind: 'status', status: 500 }, { calls: 2 });
    await bet.rollback();
    await untilDeliveries(bet, [{ state: 'delivered' }]);
    const after = await gateway.metric('gateway_drains_total', { by: 'scheduler' });
    expect(after).toBeGreaterThan(before);
  });

  it('may lose a node, and nothing of a promise is lost (I4)', async () => {
    await cluster.nodes[0]?.stop();
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('rollback', { kind: 'status', status: 500 }, { calls: 2 });
    expect((await bet.rollback()).status).toBe(200);
    await untilDeliveries(bet, [{ state: 'delivered' }], 30_000);
    expect(bet.balance()).toBe('1000');
  });
});
