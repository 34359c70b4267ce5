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
  const redis = new Redis(url.href);
  try {
    await redis.flushdb();
  } finally {
    redis.disconnect();
  }
  return { url: url.href };
}

/** A server of the test's own, to do with as it likes; the test stops it. */
export function privateRedis(): Promise<EmbeddedServer> {
  return startRedis();
}
