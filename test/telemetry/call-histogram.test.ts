import { Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { CallHistogram } from '../../src/telemetry/call-histogram.ts';

const BUCKETS = [0.01, 0.1, 1, 5];
const OPTIONS = { name: 'a_duration_seconds', help: 'How long', buckets: BUCKETS };

describe('a histogram by operator', () => {
  it('counts as prom-client’s own does, edges included', async () => {
    const registry = new Registry();
    const labelNames = ['operator', 'operation'] as const;
    const oracle = new Histogram({ ...OPTIONS, labelNames, registers: [registry] });
    const ours = new CallHistogram({ ...OPTIONS, label: 'operation' });
    const values = [0, 0.01, 0.010001, 0.5, 1, 4.999, 5, 5.001, 1_000];
    for (const [index, value] of values.entries()) {
      const labels = { operator: index % 2 === 0 ? 'alpha' : 'beta', operation: 'place' };
      oracle.observe(labels, value);
      ours.observe(labels, value);
    }
    const lines = [...ours.samples()].map(([head, value]) => normal(`${head} ${value}`));
    const expected = (await registry.metrics()).split('\n').filter(isSample).map(normal);
    expect(lines.sort()).toEqual(expected.sort());
  });

  it('shows each series as of one moment, whatever is observed while it is read', () => {
    const histogram = new CallHistogram({ ...OPTIONS, label: 'operation' });
    const labels = { operator: 'alpha', operation: 'place' };
    histogram.observe(labels, 1);
    const samples = histogram.samples();
    const read = [samples.next()];
    for (const seconds of [0.001, 0.1, 5, 1_000]) histogram.observe(labels, seconds);
    for (let next = samples.next(); next.done !== true; next = samples.next()) read.push(next);
    // 0.01, 0.1, 1, 5, +Inf, their sum and their count.
    expect(read.map(({ value }) => value?.[1])).toEqual([0, 0, 1, 1, 1, 1, 1]);
  });

  it('shows no lines for what never happened', () => {
    const histogram = new CallHistogram({ ...OPTIONS, label: 'operation' });
    expect([...histogram.samples()]).toEqual([]);
    histogram.observe({ operator: 'alpha', operation: 'place' }, 1);
    expect([...histogram.samples()]).toHaveLength(BUCKETS.length + 3);
  });
});

function isSample(line: string): boolean {
  return line !== '' && !line.startsWith('#');
}

/** A line with its labels sorted: their order means nothing. */
function normal(line: string): string {
  return line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join(',')}}`);
}
