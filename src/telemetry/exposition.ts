import type { Registry } from 'prom-client';

/** Prometheus's text format, metric by metric: callbacks run in between. */
export async function* expositionText(registry: Registry | Promise<Registry>) {
  const metrics = await registry;
  for (const { name } of metrics.getMetricsAsArray()) {
    yield `${await metrics.getSingleMetricAsString(name)}\n`;
  }
}
