import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { Accelerator } from '../../src/redis/accelerator.ts';
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

  it('says so each time one of its nodes has been away: fences may be lost there (I6)', async () => {
    const logger = pino({ level: 'silent' });
    const options = { url: gateway.redisUrl, prefix: 'test:', clock: systemClock, logger };
    const redis = new Accelerator(options);
    onTestFinished(() => redis.close());
    await redis.connected(10_000);
    const run = await redis.serverRun();
    expect(run?.split(',')).toHaveLength(NODES);
    const returned = vi.fn();
    redis.onReturn(returned);
    // Keys of every node, so that each gets a connection.
    await vi.waitFor(async () => {
      for (let key = 0; key < 30; key += 1) {
        expect(await redis.set(`key-${key}`, 'value', 60_000)).toBe(true);
      }
    }, PATIENT);
    for (const { client } of cluster.nodes) {
      const before = returned.mock.calls.length;
      await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await vi.waitUntil(() => returned.mock.calls.length > before, PATIENT);
    }
  });

  it('says what its nodes refuse: a user without the right to CLUSTER, as Redis 6.2 has it, a password', async () => {
    const asUser = ['SETUSER', 'limited', 'on', '>secret', '~*', '+@all', '-cluster'] as const;
    for (const { client } of cluster.nodes) await client.call('ACL', ...asUser);
    const whyNot = async (credentials: string) => {
      const url = gateway.redisUrl.replace(/\/\/.*@/, `//${credentials}@`);
      const logger = pino({ level: 'silent' });
      const redis = new Accelerator({ url, prefix: 'test:', clock: systemClock, logger });
      onTestFinished(() => redis.close());
      return await redis.connected(3_000).catch((error: unknown) => String(error));
    };
    expect(await whyNot('limited:secret')).toMatch(/NOPERM.*cluster/);
    expect(await whyNot('limited:wrong')).toContain('WRONGPASS');
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
