import type { Deadline } from '../domain/deadline.ts';

/** Pauses between reads of the journal, the only place where another replica's progress shows. */
const POLL_MS_MIN = 10;
const POLL_MS_MAX = 150;

/**
 * Lets an operation wait for the one in flight: woken at once if that ends in this process, by polling
 * if it ends in another.
 */
export class BetChanges {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Wakes those who wait: the bet was freed in this process. */
  changed(transactionId: string): void {
    const waiting = this.#waiting.get(transactionId);
    if (waiting === undefined) return;
    this.#waiting.delete(transactionId);
    for (const wake of waiting) wake();
  }

  /**
   * Waits until it is worth reading the bet again.
   * @param turn how often the caller has waited already; the pauses grow with it
   * @returns false if the deadline leaves no time to wait
   */
  async next(transactionId: string, deadline: Deadline, turn: number): Promise<boolean> {
    const leftMs = deadline.walletMs();
    if (leftMs <= 0) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(transactionId) ?? new Set();
    this.#waiting.set(transactionId, waiting.add(resolve));
    const pollMs = Math.min(POLL_MS_MAX, POLL_MS_MIN * 2 ** Math.min(turn, 10), leftMs);
    const timer = setTimeout(resolve, pollMs);
    await promise;
    clearTimeout(timer);
    waiting.delete(resolve);
    if (waiting.size === 0 && this.#waiting.get(transactionId) === waiting) {
      this.#waiting.delete(transactionId);
    }
    return true;
  }
}
