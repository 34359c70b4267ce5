import type { BacklogCounts, OpenCounts } from '../store/deliveries/backlog.ts';
import type { DeliveryCount, DeliveryStore } from '../store/deliveries/queue.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { WithoutFile } from './without-file.ts';

/** Rows per statement, for its timeout; few statements per refresh, as open ones are counted every few seconds. */
const STRETCH_ROWS = 100_000;
const STRETCHES_MAX = 8;

interface Gauging {
  readonly backlog: Pick<BacklogCounts, 'look'>;
  readonly store: DeliveryStore;
  readonly metrics: Metrics;
  readonly isHeld: (operatorId: string) => boolean;
  readonly withoutFile: Pick<WithoutFile, 'tell'>;
}

/** Counts all open deliveries each time, of ended ones only those since the last refresh: there may be millions. */
export class DeliveryGauges {
  readonly #of: Gauging;
  readonly #ended = new Map<string, DeliveryCount>();
  #countedUntil = new Date(0);

  constructor(of: Gauging) {
    this.#of = of;
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE`; what could not be counted keeps its last values */
  async refresh(): Promise<void> {
    const until = await this.#of.store.countableUntil();
    const [open, failure] = await Promise.all([
      this.#of.backlog.look(),
      // Open deliveries are shown even if counting the ended ones fails.
      this.#countEnded(until).then(
        () => undefined,
        (error: unknown) => ({ error }),
      ),
    ]);
    this.#show(open);
    this.#of.withoutFile.tell(open);
    if (failure !== undefined) throw failure.error;
  }

  async #countEnded(until: Date): Promise<void> {
    for (let stretch = 0; stretch < STRETCHES_MAX && this.#countedUntil < until; stretch += 1) {
      const ended = await this.#of.store.countEnded(this.#countedUntil, until, STRETCH_ROWS);
      this.#countedUntil = ended.until;
      for (const count of ended.counts) this.#add(count);
    }
  }

  #show({ live, waiting, dead, unresolved, unknownResults }: OpenCounts): void {
    const { deliveries, deliveryOldest, rollbackOldest, resultOldest } = this.#of.metrics;
    deliveries.reset();
    deliveryOldest.reset();
    rollbackOldest.reset();
    resultOldest.reset();
    const oldest = new Map<string, number>();
    const rollbacks = new Map<string, number>();
    const results = new Map<string, number>();
    for (const { operator, operation, count } of dead) {
      deliveries.inc({ operator, operation, state: 'dead' }, count);
    }
    for (const row of [...live, ...waiting]) {
      const { operator, operation } = row;
      const isHeld = row.state === 'held' || this.#of.isHeld(operator);
      deliveries.inc({ operator, operation, state: isHeld ? 'held' : 'pending' }, row.count);
      const seconds = row.sinceMs === undefined ? 0 : (row.nowMs - row.sinceMs) / 1_000;
      raise(oldest, operator, seconds);
      if (operation === 'rollback') raise(rollbacks, operator, seconds);
      if (operation === 'settle' || operation === 'unsettle') raise(results, operator, seconds);
    }
    for (const [operator, seconds] of oldest) deliveryOldest.set({ operator }, seconds);
    for (const [operator, seconds] of rollbacks) rollbackOldest.set({ operator }, seconds);
    for (const [operator, seconds] of results) resultOldest.set({ operator }, seconds);
    for (const { operator, operation, state, count } of this.#ended.values()) {
      deliveries.set({ operator, operation, state }, count);
    }
    showCounts(this.#of.metrics.unresolved, unresolved);
    showCounts(this.#of.metrics.unknownResults, unknownResults);
  }

  #add(count: DeliveryCount): void {
    const key = `${count.operator} ${count.operation} ${count.state}`;
    const before = this.#ended.get(key)?.count ?? 0;
    this.#ended.set(key, { ...count, count: before + count.count });
  }
}

function showCounts(
  gauge: Metrics['unresolved'],
  counts: readonly { readonly operator: string; readonly count: number }[],
): void {
  gauge.reset();
  for (const { operator, count } of counts) gauge.set({ operator }, count);
}

function raise(highest: Map<string, number>, key: string, value: number): void {
  highest.set(key, Math.max(highest.get(key) ?? 0, value));
}
