import { DelayedError, type Job, Queue } from 'bullmq';
import { errorMessage } from '../lib/faults.ts';
import { within, withinOrArrived } from '../lib/within.ts';
import { connectRedis, type RedisConnection } from '../redis/connect.ts';
import type { Logger } from '../telemetry/logger.ts';
import { PatientWorker } from './patient-worker.ts';
import { ReplacedWorker } from './replaced-worker.ts';

const QUEUE = 'deliveries';
/** A hash tag, so that all keys of the queue live in one slot of a Redis Cluster. */
const HASH_TAG = '{wagergate}';
/** Operators drained at once by one process; each has its own concurrency within. */
const OPERATORS_AT_ONCE = 200;
/** After this long, a drain whose worker died is given to another worker. */
const LOCK_MS = 6_000;
const REDIS_LIMIT_MS = 500;
/** Time for the last commands to Redis after the last slice has ended. */
const CLOSE_LIMIT_MS = 1_000;

/**
 * A connection without an answer for this long is closed: if the other machine lost power, nothing else
 * would notice for a quarter of an hour. BullMQ's blocking commands let Redis wait up to 10 s.
 */
const SILENCE_MS = { adding: 5_000, working: 12_000 };
/** How often to check whether the worker still asks for work. */
const LOOK_EVERY_MS = 5_000;

/** Tolerated clock difference between processes; a drain delayed by more was delayed by a wrong clock. */
const CLOCKS_APART_MS = 10_000;
/** BullMQ's scale for the scores of delayed jobs: milliseconds times this. */
const SCORES_PER_MS = 0x1000;

export interface SchedulerOptions {
  readonly redisUrl: string;
  /** The database of the operators: gateways on other databases have queues of their own. */
  readonly databaseId: string;
  readonly logger: Logger;
  /**
   * Drains one slice of an operator.
   * @returns after how many milliseconds to drain again; undefined if nothing is left
   */
  readonly drain: (operatorId: string) => Promise<number | undefined>;
  /** For tests. */
  readonly silenceMs?: typeof SILENCE_MS;
  readonly lookEveryMs?: number;
}

/**
 * BullMQ as the distributed scheduler of the drains: one job per operator, shared by all worker
 * replicas, put back at the end of the queue after each slice, woken by delayed jobs. It holds
 * nothing that is not in PostgreSQL: if anything is lost here, the sweep schedules it again.
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
    // Adding must fail at once while Redis is down; the worker's connection waits for its return.
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
      // On a connection that is not open yet, the check would fail and the failure be cached for ever. The
      // worker's connection, which waits, performs it.
      skipVersionCheck: true,
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
      // A stalled drain is not a poison message: PostgreSQL counts the attempts.
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

  /** The last error between the queue and Redis, if there ever was one. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  start(): void {
    this.#worker.start();
  }

  /**
   * Requests that these operators be drained, by any free worker.
   * @returns false if Redis did not accept it
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

  /** Requests that an operator be drained when its next delivery is due; one wake-up per second and operator. */
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
   * Repairs an operator whose drain does not run although it was requested. A job id that exists but is in no
   * queue (an evicted or partly restored Redis) would block new jobs for ever; a job delayed by a process
   * whose clock was ahead would block them until that time.
   * @param pauseMsMax the longest that the operator's drain is ever delayed
   */
  async repair(operatorId: string, pauseMsMax: number): Promise<void> {
    const id = drainId(operatorId);
    try {
      const state = await withinOrArrived(REDIS_LIMIT_MS, this.#queue.getJobState(id));
      const isLost = state === 'unknown' || state === 'failed' || state === 'completed';
      if (!isLost && state !== 'delayed') return;
      if (!isLost && (await this.#putOffMs(id)) <= pauseMsMax + CLOCKS_APART_MS) return;
      await withinOrArrived(REDIS_LIMIT_MS, this.#queue.remove(id));
    } catch (error) {
      const facts = { operator: operatorId, error: errorMessage(error) };
      this.#options.logger.debug(facts, 'scheduler.not_repaired');
    }
  }

  /** How long a job is still delayed, by this process's clock. */
  async #putOffMs(id: string): Promise<number> {
    const place = this.#adding.zscore(this.#queue.toKey('delayed'), id);
    const score = await withinOrArrived(REDIS_LIMIT_MS, place);
    return score === null ? 0 : Number(score) / SCORES_PER_MS - Date.now();
  }

  async #answers(): Promise<boolean> {
    const asked = this.#adding.exists(this.#queue.toKey('wait'));
    return await withinOrArrived(REDIS_LIMIT_MS, asked).then(
      () => true,
      () => false,
    );
  }

  /** Waits for the slices in progress, but not for a Redis that is down. */
  async close(): Promise<void> {
    const closed = Promise.allSettled([this.#worker.close(), this.#queue.close()]);
    await Promise.allSettled(this.#drains);
    await within(CLOSE_LIMIT_MS, closed).catch((error: unknown) => {
      this.#options.logger.warn({ error: errorMessage(error) }, 'scheduler.not_closed');
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
    // To the end of the queue, so that other operators get their turn.
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
      await withinOrArrived(REDIS_LIMIT_MS, this.#queue.addBulk(jobs));
      this.#isTaking = true;
      return true;
    } catch (error) {
      // Warn once: the sweep asks every second, and drains without Redis meanwhile.
      const level = this.#isTaking ? 'warn' : 'debug';
      this.#isTaking = false;
      this.#options.logger[level]({ error: errorMessage(error) }, 'scheduler.not_armed');
      return false;
    }
  }
}

function drainId(operatorId: string): string {
  return `drain-${operatorId}`;
}
