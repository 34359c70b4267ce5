import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Deployment } from '../deployment/deployment.ts';

interface Kept {
  readonly key: string;
  readonly dump: Buffer;
  /** 0: the key never expires. */
  readonly ttlMs: number;
}

/**
 * After a while, resets Redis to exactly what it holds now, like a server that restarts from a snapshot: every
 * connection breaks.
 */
export async function oldRedis(
  { redis: { url }, processes }: Deployment,
  ms: number,
): Promise<void> {
  const redis = new Redis(url);
  try {
    const kept: Kept[] = [];
    for (const key of await redis.keys('*')) {
      const dump = await redis.dumpBuffer(key);
      // The key has expired or was deleted meanwhile.
      if (dump === null) continue;
      kept.push({ key, dump, ttlMs: Math.max(0, await redis.pttl(key)) });
    }
    await sleep(ms);
    await Promise.all(processes.map((process) => process.redis.cut()));
    const back = redis.multi().flushall();
    for (const { key, dump, ttlMs } of kept) back.restore(key, Math.max(0, ttlMs), dump);
    await back.exec();
    await Promise.all(processes.map((process) => process.redis.heal()));
  } finally {
    redis.disconnect();
  }
}
