import type { Clock } from '../domain/clock.ts';
import type { Deadline } from '../domain/deadline.ts';
import { GatewayError } from '../domain/errors.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

/** How often PostgreSQL's clock is compared with this process's, and how many looks count. */
const SAMPLE_MS = 1_000;
const SAMPLES = 15;
/** An older comparison says nothing any more: the server may be another one by now. */
const SAMPLE_AGE_MS_MAX = 30_000;

const NOW = statement(
  'database-now',
  {},
  'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms',
  (row) => row.int('now_ms'),
);

interface Sample {
  /** PostgreSQL's epoch milliseconds less this process's monotonic ones: never too large. */
  readonly offsetMs: number;
  readonly takenAtMs: number;
}

/**
 * A caller's deadline as a time of PostgreSQL's own clock, so that a statement can refuse by itself
 * what comes too late, however long it was on its way (docs/money-safety.md). The answer's arrival
 * is taken for the moment PostgreSQL looked at its clock, so a limit is early by at most the way
 * back, never late; a process that was paused finds its limits passed.
 */
export class DatabaseClock {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #samples: Sample[] = [];
  readonly #limits = new WeakMap<Deadline, Date>();
  #timer: NodeJS.Timeout | undefined;
  #sampling: Promise<Sample> | undefined;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Keeps comparing, so that no callback has to wait for it. */
  start(): void {
    this.#timer ??= setInterval(() => {
      // PostgreSQL away: whoever needs the limit asks again and is told.
      this.#sample().catch(() => undefined);
    }, SAMPLE_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * When this caller's answer has to be ready, by PostgreSQL's clock; the same for all its writes.
   * @throws GatewayError `DATABASE_UNAVAILABLE` when PostgreSQL's clock is not known
   */
  async limitOf(deadline: Deadline): Promise<Date> {
    const known = this.#limits.get(deadline);
    if (known !== undefined) return known;
    if (this.#fresh() === undefined) await this.#sample();
    return this.limitNow(deadline);
  }

  /** As `limitOf`, where the clocks were compared lately. @throws GatewayError as `limitOf` does */
  limitNow(deadline: Deadline): Date {
    const known = this.#limits.get(deadline);
    if (known !== undefined) return known;
    const offsetMs = this.#fresh();
    if (offsetMs === undefined) {
      throw new GatewayError('DATABASE_UNAVAILABLE', "PostgreSQL's clock is not known");
    }
    const limit = new Date(Math.floor(this.#clock.monotonicMs() + deadline.answerMs() + offsetMs));
    this.#limits.set(deadline, limit);
    return limit;
  }

  /** Whether `limitNow` would tell. */
  get isKnown(): boolean {
    return this.#fresh() !== undefined;
  }

  #fresh(): number | undefined {
    const sinceMs = this.#clock.monotonicMs() - SAMPLE_AGE_MS_MAX;
    let best: number | undefined;
    for (const { offsetMs, takenAtMs } of this.#samples) {
      if (takenAtMs >= sinceMs && (best === undefined || offsetMs > best)) best = offsetMs;
    }
    return best;
  }

  async #sample(): Promise<Sample> {
    this.#sampling ??= this.#take().finally(() => {
      this.#sampling = undefined;
    });
    return await this.#sampling;
  }

  async #take(): Promise<Sample> {
    const [nowMs] = await this.#database.run(NOW, {});
    if (nowMs === undefined) throw new Error('PostgreSQL has no clock');
    const takenAtMs = this.#clock.monotonicMs();
    const sample = { offsetMs: nowMs - takenAtMs, takenAtMs };
    this.#samples.push(sample);
    if (this.#samples.length > SAMPLES) this.#samples.shift();
    return sample;
  }
}
