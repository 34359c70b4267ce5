import type { Clock } from '../domain/clock.ts';

const TICK_MS = 20;
/** Timers are never exact; only a lag above this is deducted from a budget. */
const LAG_MS_MIN = 10;
/** After a lag, what waited during it is read within as long again, and within this at most. */
const AFTER_LAG_MS_MAX = 1_000;

/** How long requests may have waited unread: after the loop was blocked, a late tick says since when. */
export class EventLoopLag {
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout;
  #expectedAtMs: number;
  /** The last lag: since when nothing was read, and until when it counts. */
  #sinceMs = 0;
  #untilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#expectedAtMs = clock.monotonicMs() + TICK_MS;
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref();
  }

  /** Milliseconds; 0 in a process that keeps up. */
  currentMs(): number {
    const nowMs = this.#clock.monotonicMs();
    // A stopped process may resume in the middle of its sockets, before its timers.
    const lateMs = Math.max(0, nowMs - this.#expectedAtMs);
    const lagMs = nowMs < this.#untilMs ? Math.max(nowMs - this.#sinceMs, lateMs) : lateMs;
    return lagMs < LAG_MS_MIN ? 0 : lagMs;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const nowMs = this.#clock.monotonicMs();
    const lateMs = nowMs - this.#expectedAtMs;
    if (lateMs >= LAG_MS_MIN && nowMs >= this.#untilMs) {
      this.#sinceMs = this.#expectedAtMs;
      this.#untilMs = nowMs + Math.min(lateMs, AFTER_LAG_MS_MAX);
    }
    this.#expectedAtMs = nowMs + TICK_MS;
  }
}

/**
 * When a request arrived, on the monotonic clock: the earliest plausible time (I1).
 * @param requestStart a trusted proxy's `X-Request-Start` (`t=` and seconds, ms or µs since the epoch)
 */
export function arrivedAtMs(
  clock: Clock,
  lag: EventLoopLag,
  requestStart: string | undefined,
): number {
  const nowMs = clock.monotonicMs();
  const seenMs = nowMs - lag.currentMs();
  const startedMs = requestStart === undefined ? undefined : epochMsOf(requestStart);
  if (startedMs === undefined) return seenMs;
  const agoMs = clock.nowMs() - startedMs;
  // A proxy whose clock is wrong must not shift the arrival into the future or by more than a minute.
  return agoMs > 0 && agoMs < 60_000 ? Math.min(seenMs, nowMs - agoMs) : seenMs;
}

function epochMsOf(header: string): number | undefined {
  const match = /^(?:t=)?(\d+(?:\.\d+)?)$/.exec(header.trim());
  if (match?.[1] === undefined) return undefined;
  const value = Number(match[1]);
  if (value > 1e14) return value / 1_000;
  return value > 1e11 ? value : value * 1_000;
}
