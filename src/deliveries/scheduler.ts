import { DelayedError, type Job, Queue } from 'bullmq';
import { within } from '../lib/within.ts';
import { connectRedis, type RedisConnection } from '../redis/connect.ts';
import type { Logger } from '../telemetry/logger.ts';
import { PatientWorker } from './patient-worker.ts';
import { ReplacedWorker } from './replaced-worker.ts';

const QUEUE = 'deliveries';
/** A hash tag, so that all keys of the queue live in one slot of a Redis Cluster. */
const HASH_TAG = '{wagergate}';
/** Operators drained at once by one process; each has its own concurrency within. */
const OPERATORS_AT_ONCE = 200;
/** A drain whose worker died is given to another after this long. */
const LOCK_MS = 6_000;
const REDIS_LIMIT_MS = 500;
/** For what is left to tell Redis once the last slice has ended. */
const CLOSE_LIMIT_MS = 1_000;

/**
 * A connection whose answer is missing for so long is given up: where the other machine lost its power,
 * nothing else would tell for a quarter of an hour. BullMQ lets Redis wait up to 10 s with an answer.
 */
const SILENCE_MS = { adding: 5_000, working: 12_000 };
/** How often it is looked whether the worker still asks for work. */
const LOOK_EVERY_MS = 5_000;

/** What clocks of processes may be apart before a drain seems to be put off by a wrong one. */
const CLOCKS_APART_MS = 10_000;
/** Of BullMQ: jobs that are put off stand in their order by their time, which has room for so many. */
const SCORES_PER_MS = 0x1000;

export interface SchedulerOptions {
  readonly redisUrl: string;
  /** Which database the operators are in: gateways on others have queues of their own. */
  readonly databaseId: string;
  readonly logger: Logger;
  /**
   * Drains one slice of an operator.
   * @returns after how many milliseconds to come back, in turn; undefined when nothing is left
   */
  readonly drain: (operatorId: string) => Promise<number | undefined>;
  /** For tests. */
  readonly silenceMs?: typeof SILENCE_MS;
  readonly lookEveryMs?: number;
}

/**
 * BullMQ as the distributed scheduler of the drains: one job an operator, shared by all worker
 * replicas, put back at the end of the queue after each slice, woken by delayed jobs. It holds
 * nothing that PostgreSQL does not know: whatever is lost here, the sweep schedules again.
 */
export class Scheduler {
  readonly #queue: Queue;
  readonly #worker: ReplacedWorker;
  readonly #options: SchedulerOptions;
  readonly #adding: RedisConnection;
  readonly #drains = new Set<Promise<unknown>>();
  #trouble: string | undefined;
  #isTaking = true;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    const prefix = `${HASH_TAG}:${options.databaseId}`;
    const silenceMs = options.silenceMs ?? SILENCE_MS;
    // Adding must fail at once while Redis is away; the worker's connection waits for its return.
    const adding = connectRedis(options.redisUrl, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      socketTimeout: silenceMs.adding,
    });
    this.#adding = adding;
    adding.on('error', this.#onError);
    this.#queue = new Queue(QUEUE, {
      connection: adding,
      prefix,
      skipWaitingForReady: true,
      // Asked on a connection that is not there yet, the failure would be remembered for ever. The
      // worker's connection, which waits, asks.
      skipVersionCheck: true,
      // Nobody listens to them.
      streams: { events: { maxLen: 100 } },
    });
    this.#queue.on('error', this.#onError);
    this.#worker = new ReplacedWorker({
      logger: options.logger,
      lookEveryMs: options.lookEveryMs ?? LOOK_EVERY_MS,
      open: () => this.#openWorker(prefix, silenceMs.working),
      isBusy: () => this.#drains.size > 0,
      answers: () => this.#answers(),
    });
  }

  #openWorker(prefix: string, socketTimeout: number) {
    const connection = connectRedis(this.#options.redisUrl, {
      maxRetriesPerRequest: null,
      socketTimeout,
    });
    const worker = new PatientWorker(QUEUE, (job, token) => this.#work(job, token), {
      connection,
      prefix,
      concurrency: OPERATORS_AT_ONCE,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS / 2,
      // A stalled drain is no poison: PostgreSQL counts the attempts.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      drainDelay: 1,
      autorun: false,
    });
    connection.on('error', this.#onError);
    worker.on('error', this.#onError);
    return { worker, connection };
  }

  readonly #onError = (error: Error) => {
    this.#trouble = error.message;
    this.#options.logger.debug({ error: error.message }, 'scheduler.connection_error');
  };

  /** What was last wrong between Redis and the queue, where anything ever was. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  start(): void {
    this.#worker.start();
  }

  /**
   * Asks that these operators be drained, by whichever worker is free.
   * @returns false when Redis did not take it
   */
  async arm(operatorIds: readonly string[]): Promise<boolean> {
    return await this.#add(
      operatorIds.map((operatorId) => ({
        name: 'drain',
        data: { operatorId },
        opts: { jobId: drainId(operatorId), removeOnComplete: true, removeOnFail: true },
      })),
    );
  }

  /** Asks that an operator be drained when its next delivery is due; one wake-up a second and operator. */
  async armLater(operatorId: string, delayMs: number, atSecond: number): Promise<boolean> {
    return await this.#add([
      {
        name: 'wake',
        data: { operatorId },
        opts: {
          jobId: `wake-${operatorId}-${atSecond}`,
          delay: Math.ceil(delayMs),
          removeOnComplete: true,
          removeOnFail: true,
        },
      },
    ]);
  }

  /**
   * Repairs an operator whose drain does not run although it was requested: a job that is known but
   * in no queue (an evicted or half restored Redis) would keep every other one away for ever, and one
   * that a process put off by a clock that was ahead until that time has come for the others.
   * @param pauseMsMax the longest that the operator's drain is ever put off
   */
  async repair(operatorId: string, pauseMsMax: number): Promise<void> {
    const id = drainId(operatorId);
    try {
      const state = await within(REDIS_LIMIT_MS, this.#queue.getJobState(id));
      const isLost = state === 'unknown' || state === 'failed' || state === 'completed';
      if (!isLost && state !== 'delayed') return;
      if (!isLost && (await this.#putOffMs(id)) <= pauseMsMax + CLOCKS_APART_MS) return;
      await within(REDIS_LIMIT_MS, this.#queue.remove(id));
    } catch (error) {
      const facts = { operator: operatorId, error: messageOf(error) };
      this.#options.logger.debug(facts, 'scheduler.not_repaired');
    }
  }

  /** For how long a job is put off, by this process's clock. */
  async #putOffMs(id: string): Promise<number> {
    const place = this.#adding.zscore(this.#queue.toKey('delayed'), id);
    const score = await within(REDIS_LIMIT_MS, place);
    return score === null ? 0 : Number(score) / SCORES_PER_MS - Date.now();
  }

  async #answers(): Promise<boolean> {
    const asked = this.#adding.exists(this.#queue.toKey('wait'));
    return await within(REDIS_LIMIT_MS, asked).then(
      () => true,
      () => false,
    );
  }

  /** Lets the drains under way end their slice; does not wait for a Redis that is away. */
  async close(): Promise<void> {
    const closed = Promise.allSettled([this.#worker.close(), this.#queue.close()]);
    await Promise.allSettled(this.#drains);
    await within(CLOSE_LIMIT_MS, closed).catch((error: unknown) => {
      this.#options.logger.warn({ error: messageOf(error) }, 'scheduler.not_closed');
    });
    this.#adding.disconnect();
    this.#worker.disconnect();
  }

  async #work(job: Job, token: string | undefined): Promise<void> {
    const operatorId: unknown = job.data?.operatorId;
    if (typeof operatorId !== 'string') throw new Error('a drain without an operator');
    if (job.name === 'wake') {
      await this.arm([operatorId]);
      return;
    }
    const moreInMs = await this.#drain(operatorId);
    if (moreInMs === undefined) return;
    // To the end of the queue, so that the others have their turn.
    await job.moveToDelayed(Date.now() + Math.ceil(moreInMs), token);
    throw new DelayedError();
  }

  async #drain(operatorId: string): Promise<number | undefined> {
    const drain = this.#options.drain(operatorId);
    this.#drains.add(drain);
    try {
      return await drain;
    } finally {
      this.#drains.delete(drain);
    }
  }

  async #add(jobs: Parameters<Queue['addBulk']>[0]): Promise<boolean> {
    try {
      await within(REDIS_LIMIT_MS, this.#queue.addBulk(jobs));
      this.#isTaking = true;
      return true;
    } catch (error) {
      // Once: the sweep asks each second, and drains without Redis meanwhile.
      const level = this.#isTaking ? 'warn' : 'debug';
      this.#isTaking = false;
      this.#options.logger[level]({ error: messageOf(error) }, 'scheduler.not_armed');
      return false;
    }
  }
}

function drainId(operatorId: string): string {
  return `drain-${operatorId}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
