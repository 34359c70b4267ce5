import type { Clock } from './clock.ts';

/**
 * A wallet that has less time than this to answer is not asked at all
 * (docs/decisions/0004-one-deadline.md).
 */
export const WALLET_BUDGET_MS_MIN = 50;

/** Reserved for writing and sending the answer in time. */
const WRITE_ANSWER_MS = 50;
/** The part of that reserve still left when a callback without an answer of its own gets the safe one. */
const LAST_ANSWER_MS = 25;

/**
 * The one time budget of a callback: created at its arrival, handed down, never restarted (I1).
 * Every hop spends what remains.
 */
export class Deadline {
  readonly #clock: Clock;
  #endsAtMs: number;
  readonly #reserveMs: number;
  /**
   * When the answer has to be ready by the journal's clock, once that was requested; the same for all
   * writes of a callback. Stored here, because every garbage collection would have to walk through a
   * map keyed by deadlines.
   */
  journalLimit: Date | undefined;

  /**
   * @param arrivedAtMs when the request arrived, on `clock.monotonicMs()`
   * @param totalMs the answer leaves before this much time after arrival
   * @param reserveMs kept back from the wallet for the gateway's own work after its answer
   */
  constructor(clock: Clock, arrivedAtMs: number, totalMs: number, reserveMs: number) {
    this.#clock = clock;
    this.#endsAtMs = arrivedAtMs + totalMs;
    this.#reserveMs = reserveMs;
  }

  /**
   * Nobody waits for the answer any more: it was sent, or its caller has gone. Nothing is begun,
   * promised or sent from now on (I11).
   */
  end(): void {
    this.#endsAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Whether `end` was called: a promise made now reaches nobody. */
  get hasEnded(): boolean {
    return this.#endsAtMs === Number.NEGATIVE_INFINITY;
  }

  /** Milliseconds until the answer must have been sent; 0 if that time has passed. */
  remainingMs(): number {
    return Math.max(0, this.#endsAtMs - this.#clock.monotonicMs());
  }

  /** Milliseconds the gateway's own work may take until the answer must be ready to be written. */
  answerMs(): number {
    return Math.max(0, this.remainingMs() - WRITE_ANSWER_MS);
  }

  /**
   * Milliseconds until the safe answer is sent because there is no other. Later than `answerMs`: a
   * callback that ran out of that still gives its own answer, as it is recorded.
   */
  lastMs(): number {
    return Math.max(0, this.remainingMs() - LAST_ANSWER_MS);
  }

  /** Milliseconds a wallet may take from now on; 0 if none are left. */
  walletMs(): number {
    return Math.max(0, this.remainingMs() - this.#reserveMs);
  }

  /** Whether a wallet call started now would have a chance to answer. */
  allowsWalletCall(): boolean {
    return this.walletMs() >= WALLET_BUDGET_MS_MIN;
  }
}
