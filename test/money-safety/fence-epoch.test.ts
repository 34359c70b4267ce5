import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { Accelerator } from '../../src/redis/accelerator.ts';
import { AnswerCache } from '../../src/redis/answer-cache.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { acceptedBet } from './support/bets.ts';
import { PATIENCE } from './support/patience.ts';

let redis: TcpProxy;
let postgres: TcpProxy;
let directRedisUrl: string;
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    through: async (urls) => {
      directRedisUrl = urls.redisUrl;
      redis = await startTcpProxy(urls.redisUrl);
      postgres = await startTcpProxy(urls.databaseUrl);
      return {
        databaseUrl: postgres.through(urls.databaseUrl),
        redisUrl: redis.through(urls.redisUrl),
      };
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([redis.close(), postgres.close()]);
});

/** The cache of a replica that reaches Redis at this address. */
async function cacheAt(url: string): Promise<AnswerCache> {
  const logger = pino({ level: 'silent' });
  const options = { url, prefix: 'wagergate:', clock: systemClock, logger };
  const accelerator = new Accelerator(options);
  await accelerator.connected(10_000);
  const cache = new AnswerCache(accelerator, gateway.databaseId, systemClock, () => 60_000);
  onTestFinished(() => {
    cache.close();
    accelerator.close();
  });
  return cache;
}

/** A bet whose place is answered from Redis; the gateway may just have failed to reach Redis. */
async function rememberedBet(): Promise<TestBet> {
  const reader = await cacheAt(directRedisUrl);
  return await vi.waitFor(
    async () => {
      const bet = await acceptedBet(gateway);
      const find = () => reader.find(bet.transactionId);
      await expect.poll(find, { timeout: 2_000, interval: 50 }).toBeDefined();
      return bet;
    },
    { ...PATIENCE, interval: 300 },
  );
}

const PLACE = {
  status: 200,
  body: '{}',
  userId: 'ann',
  amount: '1',
  currency: 'USD',
  operatorId: 'alpha',
};

describe('rule 8: a recorded answer never outlives its fence (I6)', { timeout: 60_000 }, () => {
  it('Redis misses the fence of a rollback, PostgreSQL goes away: a copy of the place is not answered 200', async () => {
    const bet = await rememberedBet();
    await redis.cut();
    await expect.poll(async () => (await bet.rollback()).status, PATIENCE).toBe(200);
    await redis.restore();
    await expect
      .poll(() => gateway.parts.accelerator.set('probe', '1', 1_000), PATIENCE)
      .toBe(true);
    await postgres.cut();
    onTestFinished(() => postgres.restore());
    const copy = await bet.place();
    expect([copy.status, copy.json?.code]).toEqual([400, 100]);
    await postgres.restore();
    await expect.poll(async () => (await bet.place()).json?.code, PATIENCE).toBe(8);
  });

  it('for other replicas too, as soon as Redis is back for the one that missed it', async () => {
    const other = await cacheAt(directRedisUrl);
    const bet = await rememberedBet();
    expect(await other.find(bet.transactionId)).toBeDefined();
    await redis.cut();
    await expect.poll(async () => (await bet.rollback()).status, PATIENCE).toBe(200);
    await redis.restore();
    await expect.poll(() => other.find(bet.transactionId), PATIENCE).toBeUndefined();
  });

  it('a place that is remembered only after the missed fence does not get past it', async () => {
    const other = await cacheAt(directRedisUrl);
    const here = await cacheAt(gateway.redisUrl);
    // The place is still in flight at the other replica when its rollback arrives here.
    const late = 'place-in-flight';
    await redis.cut();
    await here.fence(late);
    const epoch = () => gateway.parts.accelerator.get('answers-epoch');
    await redis.restore();
    await expect.poll(epoch, PATIENCE).toBeDefined();
    await expect.poll(() => here.find('anything').then(() => epoch()), PATIENCE).toBeDefined();
    await other.remember(late, PLACE);
    await expect.poll(() => other.find(late), PATIENCE).toBeUndefined();
  });

  it('Redis comes back with what it held before the fence: a copy of the place is not answered 200', async () => {
    const bet = await rememberedBet();
    const server = new Redis(directRedisUrl);
    onTestFinished(() => server.disconnect());
    const key = `wagergate:place:${bet.transactionId}`;
    const snapshot = String(await server.get(key));
    expect((await bet.rollback()).status).toBe(200);
    expect(await server.get(key)).toBe('-');
    await redis.cut();
    await server.set(key, snapshot);
    await redis.restore();
    const isBack = () => gateway.parts.accelerator.set('probe', '1', 1_000);
    await expect.poll(isBack, PATIENCE).toBe(true);
    await postgres.cut();
    onTestFinished(() => postgres.restore());
    const copy = await bet.place();
    expect([copy.status, copy.json?.code]).toEqual([400, 100]);
  });

  it('afterwards answers are remembered and believed again', async () => {
    const here = await cacheAt(gateway.redisUrl);
    await redis.cut();
    await here.fence('missed');
    await redis.restore();
    let turn = 0;
    const again = async () => {
      turn += 1;
      await here.remember(`again-${turn}`, PLACE);
      return await here.find(`again-${turn}`);
    };
    await expect.poll(again, PATIENCE).toEqual(PLACE);
    expect(await here.find('missed')).toBeUndefined();
  });
});
