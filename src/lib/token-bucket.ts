import type { Clock } from '../domain/clock.ts';

/** A sustained rate, and the size of a burst. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** A token bucket for each key; keys must be few, such as operators. Of one process. */
export class TokenBuckets {
  readonly #clock: Clock;
  readonly #rate: Rate;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, rate: Rate) {
    this.#clock = clock;
    this.#rate = rate;
  }

  /**
   * Takes tokens, all or none; a full bucket that can never hold that many then owes the rest.
   * @returns 0 if there were enough; otherwise the milliseconds until there are
   */
  take(key: string, count = 1): number {
    const bucket = this.#filled(key);
    const lacking = Math.min(count, this.#rate.burst) - bucket.tokens;
    if (lacking > 0) return (lacking / this.#rate.perSecond) * 1000;
    bucket.tokens -= count;
    return 0;
  }

  /** Takes tokens that are already spent, even below zero: later callers wait until they are refilled. */
  owe(key: string, count: number): void {
    this.#filled(key).tokens -= count;
  }

  #filled(key: string): Bucket {
    const { perSecond, burst } = this.#rate;
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, filledAtMs: nowMs };
    const gained = ((nowMs - bucket.filledAtMs) / 1000) * perSecond;
    bucket.tokens = Math.min(burst, bucket.tokens + gained);
    bucket.filledAtMs = nowMs;
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
