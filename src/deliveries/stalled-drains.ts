import type { OpenOperator } from '../store/deliveries/queue.ts';

/** If an operator's next delivery stays the same for this many sweeps, its drain is checked and repaired. */
const STUCK_SWEEPS = 3;
/**
 * After this many, Redis is assumed not to hand the drain to any worker. Longer than a wallet call may take, since
 * until then the drain may be busy in another process.
 */
const UNSERVED_SWEEPS = 8;
/** For this many sweeps it is drained without Redis; then Redis is tried again. */
const WITHOUT_SWEEPS = 60;

interface Standstill {
  readonly nextAtMs: number;
  readonly sweeps: number;
}

/** Detects operators whose drains do not run although the scheduler has accepted them. */
export class StalledDrains {
  #standstills = new Map<string, Standstill>();
  /** For how many more sweeps each operator is drained without the scheduler. */
  readonly #unserved = new Map<string, number>();

  /**
   * Called once per sweep.
   * @param due operators with due deliveries
   * @param pauseMsMax the longest that such an operator's drain is ever delayed
   * @returns operators without progress: the drain of a `stuck` one may be lost; an `unserved` one is to be drained
   *   without Redis from now on
   */
  look(due: readonly OpenOperator[], pauseMsMax: (operatorId: string) => number) {
    for (const [id, left] of this.#unserved) {
      if (left > 1) this.#unserved.set(id, left - 1);
      else this.#unserved.delete(id);
    }
    const before = this.#standstills;
    this.#standstills = new Map();
    for (const { operatorId, nextAtMs } of due) {
      const last = before.get(operatorId);
      const sweeps = last?.nextAtMs === nextAtMs ? last.sweeps + 1 : 0;
      this.#standstills.set(operatorId, { nextAtMs, sweeps });
    }
    const still = [...this.#standstills].map(([id, { sweeps }]) => ({ id, sweeps }));
    const unserved = still
      .filter(({ id }) => !this.#unserved.has(id))
      .filter(({ id, sweeps }) => sweeps >= UNSERVED_SWEEPS + pauseMsMax(id) / 1000);
    for (const { id } of unserved) this.#unserved.set(id, WITHOUT_SWEEPS);
    return {
      stuck: still.filter(({ sweeps }) => sweeps >= STUCK_SWEEPS).map(({ id }) => id),
      unserved: unserved.map(({ id }) => id),
    };
  }

  isUnserved(operatorId: string): boolean {
    return this.#unserved.has(operatorId);
  }

  /** The scheduler has handed this operator's drain to this process. */
  served(operatorId: string): void {
    this.#unserved.delete(operatorId);
    this.#standstills.delete(operatorId);
  }
}
