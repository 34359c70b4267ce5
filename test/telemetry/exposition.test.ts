import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { expositionText } from '../../src/telemetry/metrics.ts';

function registryWithAll(): Registry {
  const registry = new Registry();
  const registers = [registry];
  const counter = new Counter({ name: 'a_total', help: 'A', labelNames: ['b', 'c'], registers });
  counter.inc({ b: 'one', c: 'two' }, 3);
  counter.inc({ b: 'one', c: 'three' });
  new Gauge({ name: 'no_labels', help: 'B', registers }).set(0.25);
  const nasty = new Gauge({ name: 'nasty', help: 'C', labelNames: ['b'], registers });
  nasty.set({ b: 'a "quoted" \\ back\nslash' }, -1);
  const duration = { name: 'd', help: 'D', labelNames: ['b'], buckets: [1, 2], registers };
  new Histogram(duration).observe({ b: 'one' }, 1.5);
  return registry;
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

it('writes every metric as prom-client does, one after the other', async () => {
  const registry = registryWithAll();
  const pieces = await Array.fromAsync(expositionText(registry));
  expect(pieces).toHaveLength(4);
  expect(linesOf(pieces.join(''))).toEqual(linesOf(await registry.metrics()));
});
