import { Redis } from 'ioredis';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Scheduler } from '../../src/deliveries/scheduler.ts';
import type { Logger } from '../../src/telemetry/logger.ts';
import { partly } from '../support/partly.ts';
import { privateRedis } from '../support/redis.ts';

const PATIENT = { timeout: 20_000, interval: 50 };
const REFUSALS = 5;

const due = (operatorId: string) => ({ operatorId, inMs: 0 });

it('a Redis that refuses to give work is asked now and then, and drains go on once it takes them (I4)', async () => {
  const server = await privateRedis();
  onTestFinished(() => server.stop());
  const admin = new Redis(server.url);
  onTestFinished(() => admin.disconnect());
  const refusedAtMs: number[] = [];
  const logger = partly<Logger>({
    debug: ((facts: { readonly error?: string }) => {
      if (facts.error?.includes('OOM')) refusedAtMs.push(performance.now());
    }) as Logger['debug'],
    warn: vi.fn(),
  });
  const drain = vi.fn(async () => undefined);
  const scheduler = new Scheduler({ redisUrl: server.url, databaseId: 'here', logger, drain });
  onTestFinished(() => scheduler.close());
  await expect.poll(() => scheduler.arm([due('alpha')]), PATIENT).toBe(true);
  await admin.config('SET', 'maxmemory', '1');
  scheduler.start();
  await expect.poll(() => refusedAtMs.length, PATIENT).toBeGreaterThanOrEqual(REFUSALS);
  const [first = 0, last = 0] = [refusedAtMs[0], refusedAtMs[REFUSALS - 1]];
  // Without the pause they would come within milliseconds; other parts of the worker may be refused in between.
  expect(last - first).toBeGreaterThan(400);
  await admin.config('SET', 'maxmemory', '0');
  await expect.poll(() => drain, PATIENT).toHaveBeenCalledWith('alpha');
});
