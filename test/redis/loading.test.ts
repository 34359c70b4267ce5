import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { Accelerator } from '../../src/redis/accelerator.ts';
import { startRedis } from '../../tools/embedded/redis.ts';

/** Redis reads its dump for some seconds: each key takes a tenth of one, and it answers in between. */
const SLOW_TO_LOAD = {
  'key-load-delay': '100000',
  'loading-process-events-interval-bytes': '1024',
};
const KEYS = 30;

it('says in the log that Redis is still loading its data, and returns by itself', async () => {
  const server = await startRedis({ settings: SLOW_TO_LOAD });
  onTestFinished(() => server.stop());
  const lines: string[] = [];
  const redis = new Accelerator({
    url: server.url,
    prefix: 'test:',
    clock: systemClock,
    logger: pino({ level: 'warn' }, { write: (line: string) => lines.push(line) }),
  });
  onTestFinished(() => redis.close());
  await redis.connected(5_000);
  await fillAndSave(server.url);
  const said = async () => {
    await redis.get('key');
    return lines.map((line) => JSON.parse(line).error);
  };
  await server.restart();

  await expect
    .poll(said, { timeout: 15_000, interval: 50 })
    .toContainEqual(
      'connected, but Redis is not ready: it may still be loading its data (LOADING)',
    );
  await expect.poll(() => redis.isAnswering(), { timeout: 30_000, interval: 100 }).toBe(true);
}, 60_000);

async function fillAndSave(url: string): Promise<void> {
  const client = new Redis(url);
  try {
    for (let key = 0; key < KEYS; key += 1) await client.set(`filler:${key}`, 'x'.repeat(2_000));
    await client.config('SET', 'rdbcompression', 'no');
    await client.save();
  } finally {
    client.disconnect();
  }
}
