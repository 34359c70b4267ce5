import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { startRedis } from '../../tools/embedded/redis.ts';
import type { EmbeddedServer } from '../../tools/embedded/server.ts';

/** Redis has this many logical databases unless told otherwise. */
const LOGICAL_DATABASES = 16;

/**
 * The run's Redis, a logical database of this test file's own, emptied. Call it once a file. For
 * tests that stop, freeze or restart the server take `privateRedis`.
 */
export async function sharedRedis(): Promise<{ readonly url: string }> {
  const url = new URL(inject('redisUrl'));
  // Files that run at the same time have different numbers.
  url.pathname = `/${Number(process.env.VITEST_POOL_ID) % LOGICAL_DATABASES}`;
  await onRedis(url.href, (redis) => redis.flushdb());
  return { url: url.href };
}

/** A server of the test's own, to do with as it likes; the test stops it. */
export function privateRedis(): Promise<EmbeddedServer> {
  return startRedis();
}

export interface LentRedis {
  readonly url: string;
  /** When nothing of the test uses it any more. */
  giveBack(): Promise<void>;
}

interface Lendable {
  readonly server: EmbeddedServer;
  /** As it was started. */
  readonly settings: unknown;
}

/** Of this process, for whichever test comes next: starting one takes longer than many a test. */
const idle: Lendable[] = [];

/** An empty server that no other test uses meanwhile, to fill and to configure, but not to end. */
export async function lentRedis(): Promise<LentRedis> {
  const lent = idle.pop() ?? (await startLendable());
  return {
    url: lent.server.url,
    giveBack: async () => {
      if (await isAsStarted(lent)) idle.push(lent);
      else await lent.server.stop();
    },
  };
}

async function startLendable(): Promise<Lendable> {
  const server = await startRedis();
  return { server, settings: await onRedis(server.url, (redis) => redis.config('GET', '*')) };
}

/** Empties it and closes what is still connected. @returns false where it is not to be used again */
async function isAsStarted({ server, settings }: Lendable): Promise<boolean> {
  try {
    return await onRedis(server.url, async (redis) => {
      await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await redis.call('CLIENT', 'UNPAUSE');
      await redis.script('FLUSH', 'SYNC');
      await redis.flushall('SYNC');
      return isDeepStrictEqual(await redis.config('GET', '*'), settings);
    });
  } catch {
    // Hung or gone, by what a test did to it: the next one gets another.
    return false;
  }
}

/** @throws Error where Redis is not there, or does not answer for five seconds */
export async function onRedis<T>(url: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { retryStrategy: null, commandTimeout: 5_000 });
  redis.on('error', () => undefined);
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}
