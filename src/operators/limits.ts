import type { OperatorConfig } from '../config/schema.ts';
import type { Clock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { type Rate, TokenBuckets } from '../lib/token-bucket.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Come back later: an answer with the seconds for `Retry-After`. */
export interface LimitedAnswer extends Answer {
  readonly retryAfterSeconds: number;
}

/**
 * What one operator may ask of one process. Not requests alone: what it costs others is the work
 * in them (I7).
 */
const RATES = {
  /**
   * Over all paths. An operator's backend opens a session a login, sometimes for everybody at once
   * after a restart: a hundred logins a second are beyond any operator's need, and below what
   * others would feel.
   */
  requests: { perSecond: 100, burst: 1_000 },
  /** Players of a batch, each a few rows and maybe a new player; bonuses of a revocation. */
  entries: { perSecond: 200, burst: 4_000 },
  /** Ids that are not known here: each is a call of the service, whose patience all share. */
  looks: { perSecond: 10, burst: 100 },
  /**
   * Of a statement's CSV. A day may have a million, read and written anew at each request: some ten
   * microseconds of this process each.
   */
  lines: { perSecond: 10_000, burst: 200_000 },
  /**
   * Of answers of the bonus API: a page of large templates has three million, each read, put into the operator's
   * terms and written. A hundred of those a second would take a process for themselves.
   */
  bytes: { perSecond: 2_000_000, burst: 16_000_000 },
} as const satisfies Record<string, Rate>;

export type Work = keyof typeof RATES;

/** The most ids that one request may look for. */
export const LOOKS_MAX = RATES.looks.burst;

/** Counts the work of each operator, in this process. */
export class OperatorLimits {
  readonly #metrics: Metrics;
  readonly #buckets: Readonly<Record<Work, TokenBuckets>>;

  constructor(metrics: Metrics, clock: Clock) {
    this.#metrics = metrics;
    this.#buckets = {
      requests: new TokenBuckets(clock, RATES.requests),
      entries: new TokenBuckets(clock, RATES.entries),
      looks: new TokenBuckets(clock, RATES.looks),
      lines: new TokenBuckets(clock, RATES.lines),
      bytes: new TokenBuckets(clock, RATES.bytes),
    };
  }

  /** @returns the 429, or undefined where the operator may have so much work done now */
  charge({ id }: OperatorConfig, work: Work, count: number): LimitedAnswer | undefined {
    const waitMs = this.#buckets[work].take(id, count);
    if (waitMs === 0) return undefined;
    this.#metrics.rejected.inc({ operator: id, reason: 'rate' });
    const retryAfterSeconds = Math.ceil(waitMs / 1000);
    return {
      ...failure(CODES.timeout, `Too many ${work}: again in ${retryAfterSeconds} s`, 429),
      retryAfterSeconds,
    };
  }

  /** Work that was done before anybody could say how much it is. */
  owe({ id }: OperatorConfig, work: Work, count: number): void {
    this.#buckets[work].owe(id, count);
  }
}
