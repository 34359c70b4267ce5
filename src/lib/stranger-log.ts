import type { Clock } from '../domain/clock.ts';
import { TokenBuckets } from './token-bucket.ts';

/** Enough to see who sends them; a flood must neither fill the log nor keep the process busy. */
const LINES = { perSecond: 5, burst: 10 };

/** Decides which unauthenticated requests are logged. All are counted. */
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
