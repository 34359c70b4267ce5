import { AggregatorRegistry, type Registry } from 'prom-client';

/**
 * Prometheus's text format, metric by metric: callbacks run between two of them. A histogram of 50 operators
 * takes about 20 ms.
 */
export async function* expositionText(registry: Registry | Promise<Registry>) {
  const metrics = await registry;
  for (const { name } of metrics.getMetricsAsArray()) {
    yield `${await metrics.getSingleMetricAsString(name)}\n`;
  }
}

/** How one admin port combines the same sample of several processes. */
export type Aggregation = 'sum' | 'max' | 'min' | 'average' | 'first' | 'omit';

/** A sample: its name with labels, as in the text format, and its value. */
type Sample = readonly [head: string, value: number];

/** A metric with all its samples, on its way from one process to another. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregation: Aggregation;
  samples(): Iterable<Sample>;
}

/** What prom-client really returns; its types omit members. */
interface Reading {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: Aggregation;
  readonly values: readonly {
    readonly metricName?: string;
    readonly labels: Readonly<Record<string, string | number>>;
    readonly value: number;
  }[];
}

/** Every metric with its present values. */
export async function familiesOf(registry: Registry): Promise<readonly Family[]> {
  const metrics = (await registry.getMetricsAsJSON()) as unknown as readonly Reading[];
  return metrics.map(({ name, help, type, aggregator, values }) => ({
    ...{ name, help, type, aggregation: aggregator },
    samples: () =>
      values.map(({ metricName = name, labels, value }): Sample => {
        const pairs = Object.entries(labels).map(
          ([label, of]) => `${label}=${JSON.stringify(`${of}`)}`,
        );
        return [pairs.length === 0 ? metricName : `${metricName}{${pairs.join(',')}}`, value];
      }),
  }));
}

const PAIR = /(\w+)=("(?:[^"\\]|\\.)*")/g;

/** The reverse of `familiesOf`. */
export function registryOf(families: readonly Family[]): Registry {
  const readings = families.map(({ name, help, type, aggregation, samples }): Reading => {
    const values = [...samples()].map(([head, value]) => {
      const pairs = head.matchAll(PAIR).map(([, label, of]) => [label, JSON.parse(of ?? '""')]);
      return {
        metricName: /^\w+/.exec(head)?.[0] ?? name,
        labels: Object.fromEntries(pairs),
        value,
      };
    });
    return { name, help, type, aggregator: aggregation, values };
  });
  return AggregatorRegistry.aggregate([readings]);
}
