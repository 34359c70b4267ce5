import { EventEmitter } from 'node:events';
import {
  type IQueueBackend,
  type Job,
  type Processor,
  Queue,
  setDefaultBackendFactory,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { Redis } from 'ioredis';
import { vi } from 'vitest';
import { Scheduler } from '../../../src/deliveries/scheduler.ts';
import type { Logger } from '../../../src/telemetry/logger.ts';
import { partly } from '../../support/partly.ts';

type Bulk = Parameters<Queue['addBulk']>[0];

/**
 * From now on BullMQ's queue and worker do not reach Redis: the test answers their calls. `withRedis` restores
 * everything.
 */
export function withoutRedis() {
  vi.spyOn(Redis.prototype, 'connect').mockResolvedValue();
  const disconnect = vi.spyOn(Redis.prototype, 'disconnect').mockReturnValue();
  const addBulk = vi.spyOn(Queue.prototype, 'addBulk').mockResolvedValue([]);
  const run = vi.spyOn(Worker.prototype, 'run').mockResolvedValue();
  const closed = {
    queue: vi.spyOn(Queue.prototype, 'close').mockResolvedValue(),
    worker: vi.spyOn(Worker.prototype, 'close').mockResolvedValue(),
  };

  const backends: (EventEmitter & { name: string; options: WorkerOptions; connection: Redis })[] =
    [];
  setDefaultBackendFactory((name, options) => {
    const backend = Object.assign(new EventEmitter(), {
      ...{ name, options: options as WorkerOptions, connection: options.connection as Redis },
      ...{ qualifiedName: name, keys: {}, toKey: String },
      waitUntilReady: () => new Promise<void>(() => undefined),
    });
    backends.push(backend);
    return partly<IQueueBackend>(backend);
  });

  return {
    ...{ backends, addBulk, run, closed, disconnect },
    armed: (): Bulk => addBulk.mock.calls.flatMap(([jobs]) => jobs),
    /** What a running worker does with a job. */
    work: async (job: object, token?: string) => {
      const processor: Processor = Reflect.get(Object(run.mock.contexts[0]), 'processFn');
      await processor(partly<Job>(job), token);
    },
  };
}

export function withRedis() {
  vi.restoreAllMocks();
  setDefaultBackendFactory();
}

export const REDIS_URL = 'redis://redis.example:6379';

/** A scheduler with this drain function. */
export function schedulerOf(drain: (operatorId: string) => Promise<number | undefined>) {
  const redis = withoutRedis();
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const at = { redisUrl: REDIS_URL, databaseId: 'here' };
  const options = { ...at, logger: partly<Logger>(logger), drain };
  const scheduler = new Scheduler(options);
  const [queue, worker] = redis.backends;
  if (queue === undefined || worker === undefined) throw new Error('there is no queue');
  return {
    ...{ ...redis, scheduler, logger, queue, worker },
    work: async (job: object, token?: string) => {
      scheduler.start();
      await redis.work(job, token);
    },
  };
}
