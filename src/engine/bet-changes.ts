import type { Deadline } from '../domain/deadline.ts';

/** Between looks at the journal: another replica's progress shows only there. */
const POLL_MS_MIN = 10;
const POLL_MS_MAX = 150;

/**
 * Lets an operation wait for the one that is in flight: woken at once when it ends in this process,
 * by polling when it ends in another.
 */
export class BetChanges {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Says that the bet was freed in this process. */
  changed(transactionId: string): void {
    const waiting = this.#waiting.get(transactionId);
    if (waiting === undefined) return;
    this.#waiting.delete(transactionId);
    for (const wake of waiting) wake();
  }

  /**
   * Waits until it is worth looking at the bet again.
   * @param turn how often the caller has waited already; the polls grow apart
   * @returns false when the deadline leaves no time to wait
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
