import { EventEmitter } from 'node:events';

/** Into how many slices a breaker's rolling window is cut. */
export const WINDOW_BUCKETS = 10;

/**
 * The ticks that move the rolling windows of all breakers on. Two timers a breaker, for a thousand
 * operators with two breakers each, would be four thousand; operators share their few window
 * lengths.
 */
export class BreakerWindows {
  readonly #ticks = new Map<number, EventEmitter>();
  readonly #timers: NodeJS.Timeout[] = [];

  /** What a breaker with this window listens to; the same one for the same length. */
  tickFor(windowMs: number): EventEmitter {
    const bucketMs = Math.max(1, Math.floor(windowMs / WINDOW_BUCKETS));
    const known = this.#ticks.get(bucketMs);
    if (known !== undefined) return known;
    const tick = new EventEmitter().setMaxListeners(0);
    // The name is opossum's.
    this.#timers.push(setInterval(() => tick.emit('rotate'), bucketMs).unref());
    this.#ticks.set(bucketMs, tick);
    return tick;
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#ticks.clear();
  }
}
