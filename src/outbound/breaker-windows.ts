import { EventEmitter } from 'node:events';

/** The number of slices of a breaker's rolling window. */
export const WINDOW_BUCKETS = 10;

/**
 * The ticks that advance the rolling windows of all breakers, shared by window length. Otherwise two
 * timers per breaker would make four thousand for a thousand operators with two breakers
 * each.
 */
export class BreakerWindows {
  readonly #ticks = new Map<number, EventEmitter>();
  readonly #timers: NodeJS.Timeout[] = [];

  /** The emitter that a breaker with this window listens to; the same for the same length. */
  tickFor(windowMs: number): EventEmitter {
    const bucketMs = Math.max(1, Math.floor(windowMs / WINDOW_BUCKETS));
    const known = this.#ticks.get(bucketMs);
    if (known !== undefined) return known;
    const tick = new EventEmitter().setMaxListeners(0);
    // The event name is defined by opossum.
    this.#timers.push(setInterval(() => tick.emit('rotate'), bucketMs).unref());
    this.#ticks.set(bucketMs, tick);
    return tick;
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#ticks.clear();
  }
}
