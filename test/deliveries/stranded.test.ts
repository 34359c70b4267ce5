import { expect, it, vi } from 'vitest';
import { Scheduler } from '../../src/deliveries/scheduler.ts';
import type { Logger } from '../../src/telemetry/logger.ts';
import { partly } from '../support/partly.ts';
import { sharedRedis } from '../support/redis.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const due = (operatorId: string) => ({ operatorId, inMs: 0 });

it('drains go on by new connections where the old ones are never answered again (I4)', async (context) => {
  const { url: address } = await sharedRedis();
  const proxy = await startTcpProxy(address);
  context.onTestFinished(() => proxy.close());
  // In the middle of a drain: its job may still be on record when the next one is requested, and would be taken for it.
  const drain = vi.fn(async (operatorId: string) => {
    if (operatorId === 'alpha') proxy.strand();
    return undefined;
  });
  const scheduler = new Scheduler({
    redisUrl: proxy.through(address),
    databaseId: 'here',
    logger: partly<Logger>({ debug: () => undefined, warn: () => undefined }),
    drain,
    silenceMs: { adding: 200, working: 400 },
  });
  context.onTestFinished(() => scheduler.close());
  scheduler.start();
  await expect.poll(() => scheduler.arm([due('alpha')])).toBe(true);
  await expect.poll(() => drain).toHaveBeenCalledWith('alpha');
  await expect.poll(() => scheduler.arm([due('beta')])).toBe(true);
  await expect.poll(() => drain).toHaveBeenCalledWith('beta');
});
