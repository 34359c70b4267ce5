import type { Registry } from 'prom-client';
import { Slices } from '../lib/slices.ts';
import type { CallHistogram } from './call-histogram.ts';

/** How one admin port combines the same sample of several processes. */
export type Aggregation = 'sum' | 'max' | 'min' | 'average' | 'first' | 'omit';

/** A sample: its name with labels, as in the text format, and its value. */
export type Sample = readonly [head: string, value: number];

/** A metric with all its samples. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregation: Aggregation;
  samples(): Iterable<Sample>;
}

type PromMetric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];
type Labels = Readonly<Record<string, string | number | undefined>>;

const CHUNK_LENGTH = 128 * 1024;

/** Label text by labels object: prom-client keeps one object per sample, so that it can be a cache key. */
const written = new WeakMap<Labels, string>();

/** Every metric with its present values (histograms: those at the time of reading). */
export async function familiesOf(
  registry: Registry,
  histograms: readonly CallHistogram<string>[],
): Promise<readonly Family[]> {
  const others = await registry.getMetricsAsJSON();
  return [...histograms.map(familyOfHistogram), ...others.map(familyOfPromMetric)];
}

function familyOfHistogram(histogram: CallHistogram<string>): Family {
  const { name, help } = histogram;
  return { name, help, type: 'histogram', aggregation: 'sum', samples: () => histogram.samples() };
}

function familyOfPromMetric(metric: PromMetric): Family {
  const { name, help, type, aggregator, values } = metric as unknown as Reading;
  return {
    name,
    help,
    type,
    aggregation: aggregator,
    samples: () =>
      values.map(
        ({ metricName, labels, value }): Sample => [
          (metricName ?? name) + labelText(labels),
          value,
        ],
      ),
  };
}

/** What prom-client really returns; its types omit members. */
interface Reading {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregator: Aggregation;
  readonly values: readonly {
    readonly metricName?: string;
    readonly labels: Labels;
    readonly value: number;
  }[];
}

function labelText(labels: Labels): string {
  const known = written.get(labels);
  if (known !== undefined) return known;
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(`${value}`)}"`);
  const text = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  written.set(labels, text);
  return text;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

/**
 * Prometheus's text format, chunk by chunk. It yields to callbacks every few milliseconds, because with a
 * thousand operators it is twenty megabytes.
 */
export async function* expositionText(
  families: readonly Family[] | Promise<readonly Family[]>,
): AsyncGenerator<string> {
  let chunk = '';
  const slices = new Slices();
  for (const family of await families) {
    chunk += `# HELP ${family.name} ${escapedHelp(family.help)}\n# TYPE ${family.name} ${family.type}\n`;
    for (const [head, value] of family.samples()) {
      chunk += `${head} ${numberText(value)}\n`;
      if (chunk.length >= CHUNK_LENGTH) {
        yield chunk;
        chunk = '';
      }
      if (slices.isOver()) await slices.next();
    }
  }
  yield chunk;
}

function escapedHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return `${value}`;
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}
