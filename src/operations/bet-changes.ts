import type { Deadline } from '../domain/deadline.ts';

/** Pauses between reads of the journal: another replica's progress shows only there. */
const POLL_MS_MIN = 10;
const POLL_MS_MAX = 150;

/** Waits for a bet's operation in flight: woken at once by this process, by polling if another process ends it. */
export class BetChanges {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Call it when the bet was freed in this process. */
  changed(transactionId: string): void {
    const waiting = this.#waiting.get(transactionId);
    if (waiting === undefined) return;
    this.#waiting.delete(transactionId);
    for (const wake of waiting) wake();
  }

  /**
   * Waits until the bet should be read again.
   * @param turn how often the caller has waited; the pauses grow with it
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
