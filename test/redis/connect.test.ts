import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { Accelerator } from '../../src/redis/accelerator.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import type { EmbeddedServer } from '../../tools/embedded/server.ts';
import { privateRedis } from '../support/redis.ts';
import { freePort, startRedisProcess } from './support/redis-process.ts';

const PATIENT = { timeout: 30_000, interval: 100 };

describe('Redis through Sentinel', { timeout: 90_000 }, () => {
  let master: EmbeddedServer;
  let replica: EmbeddedServer;
  let sentinel: { readonly port: number; stop(): Promise<void> };
  let url: string;
  beforeAll(async () => {
    master = await privateRedis();
    replica = await privateRedis();
    const password = new URL(master.url).password;
    await follow(replica, master);
    sentinel = await startSentinel(master.port, password);
    url = `redis+sentinel://:${password}@127.0.0.1:${sentinel.port}/books/3?sentinel=127.0.0.1:1`;
  });
  afterAll(async () => {
    await sentinel.stop();
    await replica.stop();
    await master.stop();
  });

  it('finds the master, and the new one after the old one died', async () => {
    const logger = pino({ level: 'silent' });
    const redis = new Accelerator({ url, prefix: 'test:', clock: systemClock, logger });
    await redis.connected(20_000);
    // A command that takes over 150 ms is given up, as while this master makes the copy for its replica.
    await vi.waitFor(
      async () => expect(await redis.set('key', 'from the first master', 60_000)).toBe(true),
      PATIENT,
    );
    const direct = new Redis(`${master.url}/3`);
    expect(await direct.get('test:key')).toBe('from the first master');
    direct.disconnect();

    await vi.waitFor(async () => expect(await knowsReplica(sentinel.port)).toBe(true), PATIENT);
    await master.kill();
    await vi.waitFor(
      async () => expect(await redis.set('key', 'from the second', 60_000)).toBe(true),
      { timeout: 60_000, interval: 200 },
    );
    const promoted = new Redis(`${replica.url}/3`);
    expect(await promoted.get('test:key')).toBe('from the second');
    promoted.disconnect();
    redis.close();

    // The scheduler's queue works through it as well.
    const connection = connectRedis(url, { maxRetriesPerRequest: null });
    const queue = new Queue('through-sentinel', { connection });
    await queue.add('drain', {}, { jobId: 'drain-alpha' });
    expect(await queue.getJobState('drain-alpha')).toBe('waiting');
    await queue.close();
    connection.disconnect();
  });

  it('is refused without the name of a master', () => {
    expect(() => connectRedis('redis+sentinel://127.0.0.1:26379', {})).toThrow(/names no master/);
  });
});

it.each(['redis', 'redis+sentinel', 'redis+cluster'])(
  'says what is wrong with a %% in the password of a %s URL, and not the password',
  (scheme) => {
    const url = `${scheme}://:gehe%im@127.0.0.1:1/0`;
    expect(() => connectRedis(url, { lazyConnect: true })).toThrow(
      /^REDIS_URL holds a % that stands for no character, .*: write %25/,
    );
  },
);

it.each(['redis+cluster://a:1?node=', 'redis+sentinel://a:26379/main?sentinel='])(
  'shows no password in front of it: %s',
  (url) => {
    expect(() => connectRedis(`${url}:ge/heim@b:1`, { lazyConnect: true })).toThrow(
      /^REDIS_URL names something with an @, where a host and its port stand, such as node-2:6379$/,
    );
  },
);

async function follow(replica: EmbeddedServer, master: EmbeddedServer): Promise<void> {
  const { password } = new URL(master.url);
  const redis = new Redis(replica.url);
  await redis.config('SET', 'masterauth', password);
  // One password for both, as Sentinel requires.
  await redis.config('SET', 'requirepass', password);
  await redis.replicaof('127.0.0.1', master.port);
  redis.disconnect();
  Object.assign(replica, { url: master.url.replace(String(master.port), String(replica.port)) });
  const follower = new Redis(replica.url);
  await vi.waitFor(
    async () => expect(await follower.info('replication')).toContain('master_link_status:up'),
    PATIENT,
  );
  follower.disconnect();
}

async function startSentinel(masterPort: number, password: string) {
  const port = await freePort();
  const lines = [
    `port ${port}`,
    `sentinel monitor books 127.0.0.1 ${masterPort} 1`,
    `sentinel auth-pass books ${password}`,
    'sentinel down-after-milliseconds books 1000',
    'sentinel failover-timeout books 5000',
  ];
  return { port, ...(await startRedisProcess(lines, ['--sentinel'])) };
}

async function knowsReplica(port: number): Promise<boolean> {
  const redis = new Redis({ host: '127.0.0.1', port });
  const known: unknown = await redis.call('SENTINEL', 'replicas', 'books');
  redis.disconnect();
  return Array.isArray(known) && known.length === 1;
}
