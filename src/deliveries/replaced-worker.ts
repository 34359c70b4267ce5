import type { RedisConnection } from '../redis/connect.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { PatientWorker } from './patient-worker.ts';

/** Looks without a request for work before the worker is suspect: BullMQ asks again after 10 s at most. */
const LOOKS_MAX = 4;
/** Looks at which Redis must answer: while it is down, silence is normal, and after that the worker gets one more. */
const ANSWERS_MIN = 2;

interface Opened {
  readonly worker: PatientWorker;
  readonly connection: RedisConnection;
}

export interface ReplacedWorkerOptions {
  readonly logger: Logger;
  readonly lookEveryMs: number;
  /** Creates a worker that does not run yet, on a connection of its own. */
  readonly open: () => Opened;
  /** Whether a job is in progress: until it ends, the worker may not ask for more. */
  readonly isBusy: () => boolean;
  /** Whether Redis answers for the worker's queue. */
  readonly answers: () => Promise<boolean>;
}

/**
 * A worker that is replaced if it hangs: after a Redis Cluster node was frozen for longer than its connections live,
 * BullMQ waits for ever for a connection that nobody opens. Counts looks instead of time, so that a process that was
 * itself stopped does not replace a healthy worker.
 */
export class ReplacedWorker {
  readonly #options: ReplacedWorkerOptions;
  #current: Opened;
  #timer: NodeJS.Timeout | undefined;
  #asked = 0;
  /** Consecutive looks at which it was idle and had not asked for work. */
  #silent = 0;
  /** How many of the latest of these Redis answered. */
  #answered = 0;

  constructor(options: ReplacedWorkerOptions) {
    this.#options = options;
    this.#current = options.open();
  }

  start(): void {
    this.#run();
    const look = () => void this.#look();
    this.#timer = setInterval(look, this.#options.lookEveryMs).unref();
  }

  /** Takes no more work, and waits for jobs in progress. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#current.worker.close();
  }

  disconnect(): void {
    this.#current.connection.disconnect();
  }

  #run(): void {
    this.#current.worker.run().catch((error: unknown) => {
      this.#options.logger.error({ err: error }, 'scheduler.stopped');
    });
  }

  async #look(): Promise<void> {
    const { asked } = this.#current.worker;
    const isSilent = asked === this.#asked && !this.#options.isBusy();
    this.#asked = asked;
    this.#silent = isSilent ? this.#silent + 1 : 0;
    if (this.#silent < LOOKS_MAX) {
      this.#answered = 0;
      return;
    }
    const { worker } = this.#current;
    this.#answered = (await this.#options.answers()) ? this.#answered + 1 : 0;
    const isStillSilent = worker === this.#current.worker && worker.asked === this.#asked;
    if (this.#answered < ANSWERS_MIN || !isStillSilent || worker.closing !== undefined) return;
    this.#replace();
  }

  #replace(): void {
    const { worker, connection } = this.#current;
    this.#options.logger.warn(
      { note: 'it had stopped asking Redis for work, and another has taken its place' },
      'scheduler.worker_replaced',
    );
    this.#current = this.#options.open();
    this.#asked = 0;
    this.#silent = 0;
    this.#answered = 0;
    this.#run();
    // Forced: the connection it waits for may never open.
    worker.close(true).catch((error: unknown) => {
      this.#options.logger.debug({ err: error }, 'scheduler.worker_not_closed');
    });
    connection.disconnect();
  }
}
