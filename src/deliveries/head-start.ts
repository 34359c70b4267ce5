/** How much longer live calls are waited for each time that the breaker has opened again, as a share of its `openMs`. */
const STEP = 0.5;
/** The longest wait, as a multiple of `openMs`. */
const LONGEST = 3;
/** Of a breaker that stays open for longer only so much counts: its deliveries wait for long enough as it is. */
const OPEN_MS_MAX = 5_000;

/**
 * When a half-open breaker is given a delivery, as the one call that it admits. The first time at once: no player waits for
 * that. Where it has opened again since, live calls have a head start, a longer one each time: the delivery in turn may be
 * one that always fails, and would keep a wallet shut that is well.
 */
export class HeadStart {
  /** How often in a row a breaker became half-open, by operator. */
  readonly #rounds = new Map<string, number>();
  readonly #waiting = new Map<string, NodeJS.Timeout>();

  /** Whether the operator's half-open breaker is left to live calls at this moment. */
  isOn(operatorId: string): boolean {
    return this.#waiting.has(operatorId);
  }

  /** The breaker is half-open: has `probe` called when it is a delivery's turn. */
  begin(operatorId: string, openMs: number, probe: () => void): void {
    this.#stopWaiting(operatorId);
    const rounds = this.#rounds.get(operatorId) ?? 0;
    this.#rounds.set(operatorId, rounds + 1);
    if (rounds === 0) {
      probe();
      return;
    }
    const timer = setTimeout(
      () => {
        this.#waiting.delete(operatorId);
        probe();
      },
      Math.min(rounds * STEP, LONGEST) * Math.min(openMs, OPEN_MS_MAX),
    );
    this.#waiting.set(operatorId, timer);
  }

  /** A call has shown something, or a person has: the breaker is open again, or closed. */
  end(operatorId: string, state: 'open' | 'closed'): void {
    this.#stopWaiting(operatorId);
    if (state === 'closed') this.#rounds.delete(operatorId);
  }

  close(): void {
    for (const operatorId of [...this.#waiting.keys()]) this.#stopWaiting(operatorId);
  }

  #stopWaiting(operatorId: string): void {
    clearTimeout(this.#waiting.get(operatorId));
    this.#waiting.delete(operatorId);
  }
}
