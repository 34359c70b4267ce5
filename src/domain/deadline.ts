import type { Clock } from './clock.ts';

/** With less time than this for its answer, a wallet is not called (docs/decisions/0004-one-deadline.md). */
export const WALLET_BUDGET_MS_MIN = 50;

/** Reserved for writing and sending the answer in time. */
const WRITE_ANSWER_MS = 50;
/** The part of that reserve that is left when a callback without its own answer gets the safe one. */
const LAST_ANSWER_MS = 25;

/** The one time budget of a callback: created at its arrival, handed down, never restarted (I1). */
export class Deadline {
  readonly #clock: Clock;
  #endsAtMs: number;
  readonly #reserveMs: number;
  /** When the answer must be ready, by the journal's clock. Not in a map, which every garbage collection would walk. */
  journalLimit: Date | undefined;

  /**
   * @param arrivedAtMs when the request arrived, on `clock.monotonicMs()`
   * @param totalMs the answer leaves within this time after arrival
   * @param reserveMs of it for the gateway's own work after the wallet's answer
   */
  constructor(clock: Clock, arrivedAtMs: number, totalMs: number, reserveMs: number) {
    this.#clock = clock;
    this.#endsAtMs = arrivedAtMs + totalMs;
    this.#reserveMs = reserveMs;
  }

  /** Nobody waits for the answer any more. Nothing is begun, promised or sent from now on (I11). */
  end(): void {
    this.#endsAtMs = Number.NEGATIVE_INFINITY;
  }

  /** After `end`, a promise would reach nobody. */
  get hasEnded(): boolean {
    return this.#endsAtMs === Number.NEGATIVE_INFINITY;
  }

  /** Milliseconds until the answer must have been sent; 0 if that time has passed. */
  remainingMs(): number {
    return Math.max(0, this.#endsAtMs - this.#clock.monotonicMs());
  }

  /** Milliseconds for the gateway's own work until the answer must be ready to be written. */
  answerMs(): number {
    return Math.max(0, this.remainingMs() - WRITE_ANSWER_MS);
  }

  /** Until the safe answer is sent. Later than `answerMs`: a callback's own recorded answer may still come. */
  lastMs(): number {
    return Math.max(0, this.remainingMs() - LAST_ANSWER_MS);
  }

  /** Milliseconds a wallet may take from now on; 0 if none are left. */
  walletMs(): number {
    return Math.max(0, this.remainingMs() - this.#reserveMs);
  }

  /** Whether a wallet that is called now has a chance to answer. */
  allowsWalletCall(): boolean {
    return this.walletMs() >= WALLET_BUDGET_MS_MIN;
  }
}
