import { BlockList, isIPv6 } from 'node:net';
import type { Clock } from '../domain/clock.ts';

const TICK_MS = 20;
/** Timers are never exact; only a lag that people would call one is taken off a budget. */
const LAG_MS_MIN = 10;

/** A longer delay is a stall: the process was stopped, or something held the loop. */
const STALL_MS_MIN = 250;
/**
 * What waited during a stall is read within so many turns of the loop after it: one accepts the
 * connections, one reads their requests, and one is for luck.
 */
const TURNS_AFTER_STALL = 3;

/**
 * How long requests may have waited before the process looked at them. When the event loop was
 * blocked, its timers run before its sockets: the delay of the last tick is what the requests that
 * are read right after it have waited at most. A process that was stopped may wake up in the middle
 * of its sockets instead, so the delay of the next tick counts as well. After a stall everything is
 * dated from the stall's beginning until all that was waiting has been read: a sender may have
 * hung up long ago, and a newer operation may have overtaken it (docs/money-safety.md).
 */
export class EventLoopLag {
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout;
  #expectedAtMs: number;
  #lagMs = 0;
  #stalledSinceMs: number | undefined;

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
    if (this.#stalledSinceMs !== undefined) return nowMs - this.#stalledSinceMs;
    return this.#lagMs < LAG_MS_MIN ? 0 : this.#lagMs;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #noticeStall(nowMs: number): void {
    if (this.#stalledSinceMs !== undefined || nowMs - this.#expectedAtMs < STALL_MS_MIN) return;
    this.#stalledSinceMs = this.#expectedAtMs - TICK_MS;
    this.#endAfter(TURNS_AFTER_STALL);
  }

  #endAfter(turns: number): void {
    setImmediate(() => {
      if (turns > 1) this.#endAfter(turns - 1);
      else this.#stalledSinceMs = undefined;
    });
  }
}

/**
 * When a request arrived, on the monotonic clock: as early as can be known, so that lag spends the
 * budget of the callback and not the patience of the service (I1).
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
  // A proxy whose clock is off must not take or give more than a callback's whole time.
  return agoMs > 0 && agoMs < 60_000 ? Math.min(seenMs, nowMs - agoMs) : seenMs;
}

function epochMsOf(header: string): number | undefined {
  const match = /^(?:t=)?(\d+(?:\.\d+)?)$/.exec(header.trim());
  if (match?.[1] === undefined) return undefined;
  const value = Number(match[1]);
  if (value > 1e14) return value / 1_000;
  return value > 1e11 ? value : value * 1_000;
}

/** Whether an address is in one of the CIDRs (or single addresses). */
export function addressMatcher(cidrs: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
    const plain = mapped ?? address;
    return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
}
