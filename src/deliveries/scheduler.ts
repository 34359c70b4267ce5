import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { errorMessage } from '../lib/faults.ts';
import { within, withinOrArrived } from '../lib/within.ts';
import { connectRedis, type RedisConnection } from '../redis/connect.ts';
import type { Logger } from '../telemetry/logger.ts';

const QUEUE = 'deliveries';
/** A hash tag: all keys of the queue are in one slot of a Redis Cluster. */
const HASH_TAG = '{wagergate}';
/** Operators that one process drains at once, each with its own concurrency. */
const OPERATORS_AT_ONCE = 200;
/** BullMQ retries a failed drain, and after the last attempt the sweep does. */
const RETRIES = { attempts: 3, backoff: { type: 'fixed', delay: 1_000 } };
/** After this time, another worker gets the drain of a dead one. */
const LOCK_MS = 6_000;
const REDIS_LIMIT_MS = 500;
/** For the last commands to Redis after the last slice. */
const CLOSE_LIMIT_MS = 1_000;

/**
 * A silent connection is closed: after a power loss of the other machine, nothing else would notice for a quarter of an
 * hour. BullMQ's blocking commands wait up to 10 s.
 */
const SILENCE_MS = { adding: 5_000, working: 12_000 };
/** Pause after an error from Redis: BullMQ alone would repeat thousands of times a second. */
const REFUSED_MS = 500;
/** Minimum between two replacements of a worker: a new one needs time to get jobs. */
const REOPEN_PAUSE_MS = 30_000;

export interface SchedulerOptions {
  readonly redisUrl: string;
  /** The operators' database: gateways on other databases have their own queues. */
  readonly databaseId: string;
  readonly logger: Logger;
  /** Drains one slice of an operator. @returns milliseconds until the next one; undefined if nothing is left */
  readonly drain: (operatorId: string) => Promise<number | undefined>;
  /** For tests. */
  readonly silenceMs?: typeof SILENCE_MS;
}

export interface Drain {
  readonly operatorId: string;
  /** Until its earliest delivery is due; 0 or less: it is due. */
  readonly inMs: number;
}

/**
 * BullMQ as the scheduler of drains: one job per operator, delayed until its earliest delivery is due, back at the end
 * of the queue after each slice. It holds nothing that is not in PostgreSQL: the sweep adds lost jobs again.
 */
export class Scheduler {
  readonly #queue: Queue;
  readonly #options: SchedulerOptions;
  readonly #adding: RedisConnection;
  readonly #prefix: string;
  #opened: Opened;
  #openedAtMs = performance.now();
  readonly #drains = new Set<Promise<unknown>>();
  #trouble: string | undefined;
  #isTaking = true;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#prefix = `${HASH_TAG}:${options.databaseId}`;
    // Adding fails at once while Redis is down; the worker's connection waits for its return.
    const adding = connectRedis(options.redisUrl, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      socketTimeout: (options.silenceMs ?? SILENCE_MS).adding,
    });
    this.#adding = adding;
    adding.on('error', this.#onError);
    this.#queue = new Queue(QUEUE, {
      connection: adding,
      prefix: this.#prefix,
      skipWaitingForReady: true,
      // On a connection that is not open yet, the check's failure would be cached for ever. The worker's connection
      // does it.
      skipVersionCheck: true,
    });
    this.#queue.on('error', this.#onError);
    this.#opened = this.#open();
  }

  /** A worker that does not run yet, on a connection that waits for Redis to return. */
  #open(): Opened {
    const connection = connectRedis(this.#options.redisUrl, {
      maxRetriesPerRequest: null,
      socketTimeout: (this.#options.silenceMs ?? SILENCE_MS).working,
    });
    connection.on('error', this.#onError);
    const worker = new PausingWorker(QUEUE, (job, token) => this.#work(job, token), {
      connection,
      prefix: this.#prefix,
      concurrency: OPERATORS_AT_ONCE,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS / 2,
      // A stalled drain is no poison message: PostgreSQL counts the attempts.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      drainDelay: 1,
      autorun: false,
    });
    worker.on('error', this.#onError);
    return { worker, connection };
  }

  readonly #onError = (error: Error) => {
    this.#trouble = error.message;
    this.#options.logger.debug({ error: error.message }, 'scheduler.connection_error');
  };

  /** The last error between the queue and Redis, if any. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  start(): void {
    this.#opened.worker.run().catch((error: unknown) => {
      this.#options.logger.error({ err: error }, 'scheduler.stopped');
    });
  }

  /** Requests drains from any free worker; requested ones stay. @returns false if Redis did not accept them */
  async arm(drains: readonly Drain[]): Promise<boolean> {
    const jobs = drains.map(({ operatorId, inMs }) => ({
      name: 'drain',
      data: { operatorId },
      opts: {
        jobId: `drain-${operatorId}`,
        delay: Math.max(0, Math.ceil(inMs)),
        ...RETRIES,
        removeOnComplete: true,
        removeOnFail: true,
      },
    }));
    try {
      await withinOrArrived(REDIS_LIMIT_MS, this.#queue.addBulk(jobs));
      this.#isTaking = true;
      return true;
    } catch (error) {
      // Warn once: the sweep retries every second, and drains without Redis meanwhile.
      const level = this.#isTaking ? 'warn' : 'debug';
      this.#isTaking = false;
      this.#options.logger[level]({ error: errorMessage(error) }, 'scheduler.not_armed');
      return false;
    }
  }

  /** Replaces an idle worker that may hang, as BullMQ's does after a frozen node of a Redis Cluster. */
  reopen(): void {
    const nowMs = performance.now();
    if (this.#drains.size > 0 || nowMs - this.#openedAtMs < REOPEN_PAUSE_MS) return;
    this.#openedAtMs = nowMs;
    const { worker, connection } = this.#opened;
    this.#opened = this.#open();
    this.start();
    // Forced: its connection may never open.
    worker.close(true).catch(this.#onError);
    connection.disconnect();
  }

  /** Waits for the slices in progress, but not for a Redis that is down. */
  async close(): Promise<void> {
    const closed = Promise.allSettled([this.#opened.worker.close(), this.#queue.close()]);
    await Promise.allSettled(this.#drains);
    await within(CLOSE_LIMIT_MS, closed).catch((error: unknown) => {
      this.#options.logger.warn({ error: errorMessage(error) }, 'scheduler.not_closed');
    });
    this.#adding.disconnect();
    this.#opened.connection.disconnect();
  }

  /** Drains a slice. A job with more left goes to the end of the queue, so that other operators get their turn. */
  async #work(job: Job, token: string | undefined): Promise<void> {
    const operatorId: unknown = job.data?.operatorId;
    if (typeof operatorId !== 'string') throw new Error('a drain without an operator');
    const drain = this.#options.drain(operatorId);
    this.#drains.add(drain);
    try {
      const moreInMs = await drain;
      if (moreInMs === undefined) return;
      await job.moveToDelayed(Date.now() + Math.ceil(moreInMs), token);
    } finally {
      this.#drains.delete(drain);
    }
    throw new DelayedError();
  }
}

interface Opened {
  readonly worker: Worker;
  readonly connection: RedisConnection;
}

class PausingWorker extends Worker {
  protected override async moveToActive(...asked: Parameters<Worker['moveToActive']>) {
    try {
      return await super.moveToActive(...asked);
    } catch (error) {
      if (this.closing === undefined) await sleep(REFUSED_MS, undefined, { ref: false });
      throw error;
    }
  }
}
