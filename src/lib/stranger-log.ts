import type { Clock } from '../domain/clock.ts';
import { TokenBuckets } from './token-bucket.ts';

/** Enough to see who sends them; a flood must neither fill the log nor keep the process busy. */
const LINES = { perSecond: 5, burst: 10 };

/**
 * Decides which unauthenticated requests (unsigned, too large to be verified, from an address that is
 * not allowed; at the internal listener: without valid credentials) are logged. All callbacks are counted.
 */
export class StrangerLog {
  readonly #lines: TokenBuckets;
  #leftOut = 0;

  constructor(clock: Clock) {
    this.#lines = new TokenBuckets(clock, LINES);
  }

  /** @returns undefined if the request is not to be logged; otherwise how many were left out before it */
  next(): number | undefined {
    if (this.#lines.take('strangers') > 0) {
      this.#leftOut += 1;
      return undefined;
    }
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    return leftOut;
  }
}
