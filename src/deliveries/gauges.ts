import type { DeliveryCount, DeliveryStore } from '../store/deliveries/queue.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/**
 * A starting process counts everything that has ended in the years before. It counts this many at a
 * time, because a statement has only seconds, and no more in one look, because open deliveries are
 * counted every few seconds.
 */
const STRETCH_ROWS = 100_000;
const STRETCHES_MAX = 8;

/**
 * Keeps the delivery gauges: what is open is counted anew each time, what has ended only since the
 * last look, because a million delivered rows must not be counted every few seconds.
 */
export class DeliveryGauges {
  readonly #store: DeliveryStore;
  readonly #metrics: Metrics;
  readonly #isHeld: (operatorId: string) => boolean;
  readonly #ended = new Map<string, DeliveryCount>();
  #countedUntil = new Date(0);

  constructor(store: DeliveryStore, metrics: Metrics, isHeld: (operatorId: string) => boolean) {
    this.#store = store;
    this.#metrics = metrics;
    this.#isHeld = isHeld;
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE`; the gauges then keep their last values */
  async refresh(): Promise<void> {
    const until = await this.#store.settledBefore();
    const [open, unresolved, counted] = await Promise.all([
      this.#store.countOpen(),
      this.#store.countUnresolved(),
      // What is open is shown also where what has ended cannot be counted.
      this.#countEnded(until).then(
        () => undefined,
        (error: unknown) => ({ error }),
      ),
    ]);
    this.#show(open, unresolved);
    if (counted !== undefined) throw counted.error;
  }

  async #countEnded(until: Date): Promise<void> {
    for (let stretch = 0; stretch < STRETCHES_MAX && this.#countedUntil < until; stretch += 1) {
      const ended = await this.#store.countEnded(this.#countedUntil, until, STRETCH_ROWS);
      this.#countedUntil = ended.until;
      for (const count of ended.counts) this.#add(count);
    }
  }

  #show(
    open: Awaited<ReturnType<DeliveryStore['countOpen']>>,
    unresolved: Awaited<ReturnType<DeliveryStore['countUnresolved']>>,
  ): void {
    const { deliveries, deliveryOldest, rollbackOldest } = this.#metrics;
    deliveries.reset();
    deliveryOldest.reset();
    rollbackOldest.reset();
    const oldest = new Map<string, number>();
    const rollbacks = new Map<string, number>();
    for (const row of open) {
      const { operator, operation } = row;
      const isHeld = row.state === 'held' || this.#isHeld(operator);
      const state = row.state === 'dead' ? 'dead' : isHeld ? 'held' : 'pending';
      deliveries.inc({ operator, operation, state }, row.count);
      if (state !== 'dead') {
        raise(oldest, operator, row.oldestSeconds);
        if (operation === 'rollback') raise(rollbacks, operator, row.oldestSeconds);
      }
    }
    for (const [operator, seconds] of oldest) deliveryOldest.set({ operator }, seconds);
    for (const [operator, seconds] of rollbacks) rollbackOldest.set({ operator }, seconds);
    for (const { operator, operation, state, count } of this.#ended.values()) {
      deliveries.set({ operator, operation, state }, count);
    }
    this.#metrics.unresolved.reset();
    for (const { operator, count } of unresolved) this.#metrics.unresolved.set({ operator }, count);
  }

  #add(count: DeliveryCount): void {
    const key = `${count.operator} ${count.operation} ${count.state}`;
    const before = this.#ended.get(key)?.count ?? 0;
    this.#ended.set(key, { ...count, count: before + count.count });
  }
}

function raise(highest: Map<string, number>, key: string, value: number): void {
  highest.set(key, Math.max(highest.get(key) ?? 0, value));
}
