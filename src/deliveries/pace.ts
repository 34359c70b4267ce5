import type { Clock } from '../domain/clock.ts';

/** Spaces one operator's calls evenly, so that no second holds more than its rate. */
export class Pace {
  readonly #clock: Clock;
  #nextAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the next call may begin. */
  get waitMs(): number {
    return Math.max(0, this.#nextAtMs - this.#clock.monotonicMs());
  }

  /**
   * Waits for a turn that begins before `untilMs`, and takes it.
   * @param ratePerSecond as configured now; undefined: no limit
   * @param untilMs on the monotonic clock
   * @returns false, at once, if there is none
   */
  async turn(ratePerSecond: number | undefined, untilMs: number): Promise<boolean> {
    if (ratePerSecond === undefined) return true;
    const beginsAtMs = this.#clock.monotonicMs() + this.waitMs;
    if (beginsAtMs >= untilMs) return false;
    this.#nextAtMs = beginsAtMs + 1000 / ratePerSecond;
    const waitMs = beginsAtMs - this.#clock.monotonicMs();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    return true;
  }
}
