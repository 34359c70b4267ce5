import type { OpenOperator } from '../store/deliveries/queue.ts';

/** When an operator's oldest delivery has not moved for this many sweeps, its drain is looked for. */
const STUCK_SWEEPS = 3;
/**
 * After this many, Redis is taken to give the drain to nobody. Longer than a wallet may keep a delivery waiting:
 * until then the drain may be busy in another process.
 */
const UNSERVED_SWEEPS = 8;
/** For this many sweeps it is drained without Redis, which is then tried again. */
const WITHOUT_SWEEPS = 60;

interface Standstill {
  readonly nextAtMs: number;
  readonly sweeps: number;
}

/** Operators whose drains do not come about, although the scheduler has taken them. */
export class Unmoved {
  #standstills = new Map<string, Standstill>();
  /** How many sweeps more they are drained without the scheduler. */
  readonly #unserved = new Map<string, number>();

  /**
   * One sweep's look.
   * @param due operators of which something is due
   * @param pauseMsMax the longest that such an operator's drain is ever put off
   * @returns those that stand still: of `stuck` ones the drain may be lost; `unserved` ones are drained without Redis
   *   from now on
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

  /** The scheduler has given it to this process. */
  served(operatorId: string): void {
    this.#unserved.delete(operatorId);
    this.#standstills.delete(operatorId);
  }
}
