import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { startRedis } from '../../tools/embedded/redis.ts';
import type { EmbeddedServer } from '../../tools/embedded/server.ts';

/** Redis has this many logical databases by default. */
const LOGICAL_DATABASES = 16;

/**
 * The run's Redis: a logical database for this test file alone, emptied. Call it once per file. Tests that stop,
 * freeze or restart the server use `privateRedis`.
 */
export async function sharedRedis(): Promise<{ readonly url: string }> {
  const url = new URL(inject('redisUrl'));
  // Files that run concurrently have different numbers.
  url.pathname = `/${Number(process.env.VITEST_POOL_ID) % LOGICAL_DATABASES}`;
  await onRedis(url.href, (redis) => redis.flushdb());
  return { url: url.href };
}

/** A test's own server, for any use; the test stops it. */
export function privateRedis(): Promise<EmbeddedServer> {
  return startRedis();
}

export interface LentRedis {
  readonly url: string;
  /** Call it when nothing in the test uses it any more. */
  giveBack(): Promise<void>;
}

interface Lendable {
  readonly server: EmbeddedServer;
  /** Its settings at the start. */
  readonly settings: unknown;
}

/** Idle servers of this process for the next tests: starting one takes longer than many tests. */
const idle: Lendable[] = [];

/** An empty server that no other test uses meanwhile. A test may fill and configure it, but not stop it. */
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

/** Empties it and closes open connections. @returns false if it must not be used again */
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
    // Hung or gone because of a test: the next test gets another.
    return false;
  }
}

/** @throws Error if Redis is not there, or does not answer within five seconds */
export async function onRedis<T>(url: string, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { retryStrategy: null, commandTimeout: 5_000 });
  redis.on('error', () => undefined);
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}
