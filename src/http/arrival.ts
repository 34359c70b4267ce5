import type { Clock } from '../domain/clock.ts';
import { BACKLOG } from './accept-queue.ts';

const TICK_MS = 20;
/** Timers are never exact; only a lag above this is deducted from a budget. */
const LAG_MS_MIN = 10;

/** A longer delay is a stall: the process was stopped, or something held the loop. */
const STALL_MS_MIN = 250;
/**
 * Everything that waited during a stall has been read after this many turns of the loop without an
 * accepted connection: the loop accepts one waiting connection per turn, and reads its request in the next.
 */
const QUIET_TURNS = 5;
/**
 * After this many, what waited on open connections has been read. What is read during a further stall came after the
 * turn before the last one polled them: a process whose every turn is a stall would otherwise date all requests from
 * minutes ago. Connections that still wait to be accepted are dated on their own (`AcceptQueue`).
 */
const READ_TURNS = 3;
/** After this, arrivals count as new in any case, because a process that always lags still has to work. */
const AFTER_STALL_MS_MAX = 2_000;
/** A stall that has ended, while requests that waited during it are still being read. */
interface Stall {
  /** Since when anything that is still unread may have waited, on the monotonic clock. */
  sinceMs: number;
  /** When the latest of several consecutive stalls ended. */
  endedMs: number;
  /** Turns of the loop since it ended, at least `READ_TURNS` once so many have passed since the first. */
  turns: number;
  /** Consecutive turns in which no connection was accepted. */
  quietTurns: number;
  /** When the turn before the last one ended, and the last one. */
  turnEndsMs: readonly [beforeLast: number, last: number];
}

/**
 * How long requests may have waited before the process read them. After the event loop was blocked, its
 * timers run before its sockets: the delay of the last tick is the longest that the requests read right
 * after it have waited. A process that was stopped may resume in the middle of its sockets instead, so
 * the delay of the next tick counts as well. After a stall, everything is dated from the stall's
 * beginning until all that was waiting has been read: a sender may have disconnected long ago, and a
 * newer operation may have overtaken it (docs/money-safety.md).
 */
export class EventLoopLag {
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout;
  #stall: Stall | undefined;
  #expectedAtMs: number;
  #lagMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#expectedAtMs = clock.monotonicMs() + TICK_MS;
    this.#timer = setInterval(() => {
      const nowMs = this.#clock.monotonicMs();
      this.#noticeStall(nowMs);
      this.#lagMs = Math.max(0, nowMs - this.#expectedAtMs);
      this.#expectedAtMs = nowMs + TICK_MS;
    }, TICK_MS);
    this.#timer.unref();
  }

  /** Milliseconds; 0 in a process that keeps up. */
  currentMs(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#noticeStall(nowMs);
    if (this.#stall !== undefined) return nowMs - this.#stall.sinceMs;
    return this.#lagMs < LAG_MS_MIN ? 0 : this.#lagMs;
  }

  /** Call it when a connection is accepted: it may have waited, and more may wait behind it. */
  connected(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#noticeStall(nowMs);
    if (this.#stall === undefined) return;
    this.#stall.quietTurns = 0;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #noticeStall(nowMs: number): void {
    const lateMs = nowMs - this.#expectedAtMs;
    if (lateMs < STALL_MS_MIN) return;
    this.#expectedAtMs = nowMs + TICK_MS;
    const stall = this.#stall;
    if (stall === undefined) {
      const sinceMs = nowMs - lateMs - TICK_MS;
      this.#stall = {
        sinceMs,
        endedMs: nowMs,
        turns: 0,
        quietTurns: 0,
        turnEndsMs: [sinceMs, sinceMs],
      };
      setImmediate(this.#afterTurn);
      return;
    }
    stall.endedMs = nowMs;
    stall.quietTurns = 0;
    // Until then requests that have waited since the first of consecutive stalls may still be unread.
    if (stall.turns < READ_TURNS) return;
    stall.turns = READ_TURNS;
    // Not from when the stall itself began: a turn may have had several.
    [stall.sinceMs] = stall.turnEndsMs;
  }

  /** Between two of these the loop has polled all its sockets once. */
  readonly #afterTurn = () => {
    const nowMs = this.#clock.monotonicMs();
    this.#noticeStall(nowMs);
    this.#endTurn(nowMs);
    if (this.#stall !== undefined) setImmediate(this.#afterTurn);
  };

  #endTurn(nowMs: number): void {
    const stall = this.#stall;
    if (stall === undefined) return;
    stall.turns += 1;
    stall.quietTurns += 1;
    stall.turnEndsMs = [stall.turnEndsMs[1], nowMs];
    const isQuiet = stall.quietTurns > QUIET_TURNS || stall.turns > BACKLOG + QUIET_TURNS;
    if (isQuiet || nowMs - stall.endedMs > AFTER_STALL_MS_MAX) this.#stall = undefined;
  }
}

/**
 * When a request arrived, on the monotonic clock: the earliest plausible time, so that lag is deducted
 * from the callback's budget rather than making the answer late for the service (I1).
 *
 * @param requestStart a trusted proxy's `X-Request-Start` (`t=` and seconds, milliseconds or
 *   microseconds since the epoch), else undefined
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
