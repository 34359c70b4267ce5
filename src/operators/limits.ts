import type { OperatorConfig } from '../config/schema/schema.ts';
import type { Clock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { type Rate, TokenBuckets } from '../lib/token-bucket.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** A 429 answer with the seconds for `Retry-After`. */
export interface LimitedAnswer extends Answer {
  readonly retryAfterSeconds: number;
}

/** Work that one operator may ask of one process: what it costs the others (I7). */
const RATES = {
  /** Over all paths. A backend may open a session for everybody at once after a restart. */
  requests: { perSecond: 100, burst: 1_000 },
  /** Counted apart: a captured request must not use up the operator's own. */
  'outdated requests': { perSecond: 100, burst: 1_000 },
  /** Players of a batch, each with a few rows and perhaps a new player; bonuses of a revocation. */
  entries: { perSecond: 200, burst: 4_000 },
  /** Ids unknown to the gateway: each costs a call to the service, whose limits all operators share. */
  looks: { perSecond: 10, burst: 100 },
  /** Lines of a statement's CSV: some ten microseconds of this process each. */
  lines: { perSecond: 10_000, burst: 200_000 },
  /** Bytes of the bonus API's answers, each read, translated and written. */
  bytes: { perSecond: 2_000_000, burst: 16_000_000 },
} as const satisfies Record<string, Rate>;

export type Work = keyof typeof RATES;

/** The most ids that one request may look for. */
export const LOOKS_MAX = RATES.looks.burst;

/** Counts and limits each operator's work in this process. */
export class OperatorLimits {
  readonly #metrics: Metrics;
  readonly #buckets: Readonly<Record<Work, TokenBuckets>>;

  constructor(metrics: Metrics, clock: Clock) {
    this.#metrics = metrics;
    this.#buckets = {
      requests: new TokenBuckets(clock, RATES.requests),
      'outdated requests': new TokenBuckets(clock, RATES['outdated requests']),
      entries: new TokenBuckets(clock, RATES.entries),
      looks: new TokenBuckets(clock, RATES.looks),
      lines: new TokenBuckets(clock, RATES.lines),
      bytes: new TokenBuckets(clock, RATES.bytes),
    };
  }

  /** @returns the 429, or undefined if the operator may have this much work done now */
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

  /** Takes back a charge for something that was not the operator's doing. */
  giveBack({ id }: OperatorConfig, work: Work, count: number): void {
    this.#buckets[work].owe(id, -count);
  }

  /** Charges work whose amount was known only after it was done. */
  owe({ id }: OperatorConfig, work: Work, count: number): void {
    this.#buckets[work].owe(id, count);
  }
}
