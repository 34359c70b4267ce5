import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Fine below 100 ms, with bounds at the deadline and the 5 s limit; each adds much to a scrape. */
export const DURATION_BUCKETS_SECONDS = [
  0.005, 0.01, 0.02, 0.035, 0.05, 0.1, 0.25, 1, 2, 4, 4.8, 5,
] as const;

export type Makers = ReturnType<typeof makers>;

/** Functions that make metrics on one registry, with typed labels. */
export function makers() {
  const registry = new Registry();
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    // How one admin port combines several processes: a value they share is not summed.
    aggregator: 'sum' | 'max' | 'min' = 'sum',
  ) => new Gauge({ name, help, labelNames, aggregator, registers: [registry] });
  /** For values that change with every call: set only when they are read, so that calls pay nothing. */
  const gaugeWhenRead = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
  ) => {
    const refreshers: (() => void)[] = [];
    const collect = () => {
      for (const refresh of refreshers) refresh();
    };
    const made = new Gauge({ name, help, labelNames, collect, registers: [registry] });
    return Object.assign(made, {
      /** @param refresh sets its values */
      beforeReading: (refresh: () => void): void => {
        refreshers.push(refresh);
      },
    });
  };
  const histogram = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: readonly number[] = DURATION_BUCKETS_SECONDS,
  ) => new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [registry] });
  return { registry, counter, gauge, gaugeWhenRead, histogram };
}
