import type { Clock } from '../../domain/clock.ts';
import type { Deadline } from '../../domain/deadline.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Database } from '../database.ts';
import { statement } from '../sql/statement.ts';

/** How often PostgreSQL's clock is compared with this process's, and how many comparisons are kept. */
const SAMPLE_MS = 1_000;
const SAMPLES = 15;
/** An older comparison is not used: the server may be another one by now. */
const SAMPLE_AGE_MS_MAX = 30_000;

const LONG_AGO = new Date(0);

const NOW = statement(
  'database-now',
  {},
  'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms',
  (row) => row.int('now_ms'),
);

interface Sample {
  /** PostgreSQL's epoch milliseconds less this process's monotonic ones: never too large. */
  readonly offsetMs: number;
  /** The same at the time of asking: never too small. */
  readonly offsetMsMax: number;
  readonly takenAtMs: number;
}

/**
 * A caller's deadline as a time of PostgreSQL's clock, so that a statement itself refuses what is too late. It is
 * early by at most the answer's travel time, never late; a paused process finds its limits passed.
 */
export class DatabaseClock {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #samples: Sample[] = [];
  /** The best comparison, valid until the oldest of those from which it was chosen expires. */
  #best: { readonly offsetMs: number; readonly untilMs: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sampling: Promise<Sample> | undefined;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Keeps comparing, so that no callback has to wait for it. */
  start(): void {
    this.#timer ??= setInterval(() => {
      // If PostgreSQL is away, a caller that needs the limit asks again and gets the error.
      this.#sample().catch(() => undefined);
    }, SAMPLE_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * When this caller's answer must be ready, by PostgreSQL's clock; the same for all its writes. Once nobody waits,
   * every write is too late. @throws GatewayError when PostgreSQL's clock is not known
   */
  async limitOf(deadline: Deadline): Promise<Date> {
    if (deadline.hasEnded) return LONG_AGO;
    if (deadline.journalLimit !== undefined) return deadline.journalLimit;
    if (this.#fresh() === undefined) await this.#sample();
    return this.limitNow(deadline);
  }

  /** Like `limitOf`, if the clocks were compared recently. @throws GatewayError as `limitOf` does */
  limitNow(deadline: Deadline): Date {
    if (deadline.hasEnded) return LONG_AGO;
    if (deadline.journalLimit !== undefined) return deadline.journalLimit;
    const offsetMs = this.#fresh();
    if (offsetMs === undefined) {
      throw new GatewayError('DATABASE_UNAVAILABLE', "PostgreSQL's clock is not known");
    }
    const limit = new Date(Math.floor(this.#clock.monotonicMs() + deadline.answerMs() + offsetMs));
    deadline.journalLimit = limit;
    return limit;
  }

  /** Whether PostgreSQL's clock is known, as `limitNow` needs it. */
  get isKnown(): boolean {
    return this.#fresh() !== undefined;
  }

  #fresh(): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    if (this.#best !== undefined && nowMs < this.#best.untilMs) return this.#best.offsetMs;
    this.#best = bestOf(
      this.#samples.filter(({ takenAtMs }) => nowMs - takenAtMs <= SAMPLE_AGE_MS_MAX),
    );
    return this.#best?.offsetMs;
  }

  async #sample(): Promise<Sample> {
    this.#sampling ??= this.#take().finally(() => {
      this.#sampling = undefined;
    });
    return await this.#sampling;
  }

  async #take(): Promise<Sample> {
    const askedAtMs = this.#clock.monotonicMs();
    const [nowMs] = await this.#database.run(NOW, {});
    if (nowMs === undefined) throw new Error('PostgreSQL has no clock');
    const takenAtMs = this.#clock.monotonicMs();
    const sample = { offsetMs: nowMs - takenAtMs, offsetMsMax: nowMs - askedAtMs, takenAtMs };
    // Another server after a failover: limits from earlier comparisons would be too late.
    if (this.#samples.some(({ offsetMs }) => offsetMs > sample.offsetMsMax))
      this.#samples.length = 0;
    this.#samples.push(sample);
    if (this.#samples.length > SAMPLES) this.#samples.shift();
    this.#best = undefined;
    return sample;
  }
}

/** The largest offset is the most accurate: each is too small by the travel time of its answer. */
function bestOf(samples: readonly Sample[]) {
  const [oldest] = samples;
  if (oldest === undefined) return undefined;
  return {
    offsetMs: Math.max(...samples.map(({ offsetMs }) => offsetMs)),
    untilMs: oldest.takenAtMs + SAMPLE_AGE_MS_MAX,
  };
}
