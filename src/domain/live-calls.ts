import type { Clock } from './clock.ts';

/** Deliveries yield while a live call has come within this time. */
const QUIET_MS = 100;
/** In the first part of each second no delivery begins. By the wall clock, so that all processes pause together. */
const SECOND_MS = 1_000;
const PAUSE_MS = 200;
/** Deliveries that began before a pause end within this part of it; the rest shows what live calls wait alone. */
const ENDING_MS = 50;
/** Live calls may wait this many times as long as alone. */
const SLOWED_MAX = 1.3;
const FIRST_PER_SECOND = 100;
/** Empties 20,000 within ten minutes, pauses included, however slow live calls are. */
const LEAST_PER_SECOND = 50;
/** Deliveries begin together that are due within this time: one by one costs PostgreSQL more. */
const TOGETHER_MS = 25;
/** Turns that were missed while PostgreSQL was slow to claim are taken later, but no more than of this time. */
const MISSED_MS = 250;
/** What earlier seconds count in the next one: a single second says little. */
const KEPT = 0.5;

interface Turn {
  /** How many deliveries may begin. */
  readonly count: number;
  readonly inMs: number;
}

/**
 * One process's live calls, and how far its deliveries yield to them (I7). Each second compares what live calls wait
 * for the journal beside deliveries with what they wait in a pause without: the rate follows.
 */
export class LiveCalls {
  readonly #clock: Clock;
  #waiting = 0;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #perSecond = FIRST_PER_SECOND;
  #nextAtMs = 0;
  #second = 0;
  #begun = 0;
  #alone = new Waits();
  #beside = new Waits();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs what a live call waits for until it can be sent, and measures it. @throws what `work` throws */
  async begin<T>(work: () => Promise<T>): Promise<T> {
    const beganAtMs = this.#clock.monotonicMs();
    const intoSecondMs = this.#clock.nowMs() % SECOND_MS;
    this.#waiting += 1;
    try {
      return await work();
    } finally {
      this.#waiting -= 1;
      this.#lastAtMs = this.#clock.monotonicMs();
      this.#adjust();
      const waitedMs = this.#lastAtMs - beganAtMs;
      if (intoSecondMs >= PAUSE_MS) this.#beside.add(waitedMs);
      else if (intoSecondMs >= ENDING_MS) this.#alone.add(waitedMs);
    }
  }

  /**
   * Takes a turn for up to `wanted` deliveries; all at once if there are no live calls.
   * @param untilMs on the monotonic clock
   * @returns undefined if no turn begins before that
   */
  turn(wanted: number, untilMs: number): Turn | undefined {
    if (this.#isQuiet) return { count: wanted, inMs: 0 };
    this.#adjust();
    const nowMs = this.#clock.monotonicMs();
    const inMs = this.waitMs;
    if (nowMs + inMs >= untilMs) return undefined;
    const missedMs = inMs > 0 ? 0 : Math.min(MISSED_MS, nowMs - this.#nextAtMs);
    const perMs = this.#perSecond / 1000;
    const count = Math.min(wanted, Math.ceil((missedMs + TOGETHER_MS) * perMs));
    this.#nextAtMs = nowMs + inMs - missedMs + count / perMs;
    this.#begun += count;
    return { count, inMs };
  }

  /** Milliseconds until the next turn. */
  get waitMs(): number {
    if (this.#isQuiet) return 0;
    const inMs = Math.max(0, this.#nextAtMs - this.#clock.monotonicMs());
    const intoSecondMs = (this.#clock.nowMs() + inMs) % SECOND_MS;
    return inMs + Math.max(0, PAUSE_MS - intoSecondMs);
  }

  get #isQuiet(): boolean {
    return this.#waiting === 0 && this.#clock.monotonicMs() - this.#lastAtMs >= QUIET_MS;
  }

  /** Once a second. */
  #adjust(): void {
    const second = Math.floor(this.#clock.nowMs() / SECOND_MS);
    if (second === this.#second) return;
    this.#second = second;
    // Not a number if one of the two had no call.
    const slowed = Math.exp(this.#beside.mean - this.#alone.mean) || 1;
    const perSecond = (this.#perSecond * SLOWED_MAX) / Math.max(1, slowed);
    // A rate that was not used does not prove that more is harmless.
    const isProven = this.#begun >= (perSecond > this.#perSecond ? this.#perSecond / 2 : 1);
    if (isProven) this.#perSecond = Math.max(LEAST_PER_SECOND, perSecond);
    this.#begun = 0;
    this.#alone.keep(KEPT);
    this.#beside.keep(KEPT);
  }
}

/** Averages logarithms: one stall of the disk must not outweigh a thousand calls. */
class Waits {
  #sum = 0;
  #count = 0;

  /** Not a number if there are none. */
  get mean(): number {
    return this.#sum / this.#count;
  }

  add(waitedMs: number): void {
    this.#sum += Math.log(1 + waitedMs);
    this.#count += 1;
  }

  keep(share: number): void {
    this.#sum *= share;
    this.#count *= share;
  }
}
