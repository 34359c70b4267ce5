import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { Scheduler } from '../../src/deliveries/scheduler.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { Accelerator } from '../../src/redis/accelerator.ts';
import { privateRedis } from '../support/redis.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const PATIENT = { timeout: 15_000, interval: 50 };

const due = (operatorId: string) => ({ operatorId, inMs: 0 });

it('leaves a master that became a replica without closing its connections (I4)', async (context) => {
  const [old, next] = await Promise.all([privateRedis(), privateRedis()]);
  context.onTestFinished(async () => {
    await Promise.all([old.stop(), next.stop()]);
  });
  // One address that moves to the new master.
  const moving = { host: '127.0.0.1', port: old.port };
  const proxy = await startTcpProxy(moving);
  context.onTestFinished(() => proxy.close());
  const url = proxy.through(old.url);

  const logger = pino({ level: 'silent' });
  // What normally pauses for a second after a failure pauses only for a moment.
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() * 50 };
  const redis = new Accelerator({ url, prefix: 'test:', clock, logger });
  context.onTestFinished(() => redis.close());
  const drain = vi.fn(async () => undefined);
  const scheduler = new Scheduler({ redisUrl: url, databaseId: 'here', logger, drain });
  context.onTestFinished(() => scheduler.close());
  scheduler.start();
  await expect.poll(() => redis.set('key', 'old', 60_000), PATIENT).toBe(true);
  await expect.poll(() => scheduler.arm([due('alpha')]), PATIENT).toBe(true);
  await expect.poll(() => drain, PATIENT).toHaveBeenCalledOnce();

  const admin = [new Redis(old.url), new Redis(next.url)] as const;
  context.onTestFinished(() => {
    for (const one of admin) one.disconnect();
  });
  await admin[1].config('SET', 'requirepass', new URL(url).password);
  moving.port = next.port;
  await admin[0].replicaof('127.0.0.1', 1);

  await expect.poll(() => redis.set('key', 'next', 60_000), PATIENT).toBe(true);
  expect(await admin[1].get('test:key')).toBe('next');
  await expect.poll(() => scheduler.arm([due('alpha')]), PATIENT).toBe(true);
  await expect.poll(() => drain, PATIENT).toHaveBeenCalledTimes(2);
});
