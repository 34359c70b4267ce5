import type { Clock } from '../domain/clock.ts';
import { TokenBuckets } from './token-bucket.ts';

/** Enough to see how an outage begins; of one that lasts for a day, hundreds of megabytes would say the same. */
const LINES = { perSecond: 1 / 60, burst: 10 };

/** Which failures of recurring work are logged: ten of each duty, then one a minute. */
export class FailureLines {
  readonly #lines: TokenBuckets;

  constructor(clock: Clock) {
    this.#lines = new TokenBuckets(clock, LINES);
  }

  /** Whether this failure of the duty is to be logged. */
  next(duty: string): boolean {
    return this.#lines.take(duty) === 0;
  }
}
