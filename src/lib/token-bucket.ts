import type { Clock } from '../domain/clock.ts';

/** How fast something may go on, and how much of it may come at once. */
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
   * Takes one token.
   * @returns 0 when there was one; else the milliseconds until there is
   */
  take(key: string): number {
    const bucket = this.#filled(key);
    if (bucket.tokens < 1) return ((1 - bucket.tokens) / this.#rate.perSecond) * 1000;
    bucket.tokens -= 1;
    return 0;
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
