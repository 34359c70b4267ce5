import { unreachable } from '../domain/unreachable.ts';
import { Slices } from '../lib/slices.ts';
import type { Aggregation, Family } from './exposition.ts';

/** A process's metrics on their way to the process that answers the scrape. */
export type Snapshot = readonly FamilySnapshot[];

interface FamilySnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly aggregation: Aggregation;
  /** One head per line: a single text of ten megabytes is sent faster than a hundred thousand texts. */
  readonly heads: string;
  readonly values: Float64Array;
}

/** Copies the present values, and yields to callbacks meanwhile. */
export async function snapshotOf(families: readonly Family[]): Promise<Snapshot> {
  const slices = new Slices();
  const copies: FamilySnapshot[] = [];
  for (const { name, help, type, aggregation, samples } of families) {
    const heads: string[] = [];
    const values: number[] = [];
    for (const [head, value] of samples()) {
      heads.push(head);
      values.push(value);
      if (slices.isOver()) await slices.next();
    }
    const copy = { heads: heads.join('\n'), values: Float64Array.from(values) };
    copies.push({ name, help, type, aggregation, ...copy });
  }
  return copies;
}

/** The combined counts of two processes that have exited, without gauges, which no longer mean anything. */
export function countedBy(one: Snapshot, other: Snapshot): Snapshot {
  const snapshots = new Map<object, Snapshot>([
    [{ one }, one],
    [{ other }, other],
  ]);
  return new Together()
    .families(snapshots)
    .filter(({ type }) => type !== 'gauge')
    .map(({ samples, ...about }) => {
      const all = [...samples()];
      const heads = all.map(([head]) => head).join('\n');
      return { ...about, heads, values: Float64Array.from(all, ([, value]) => value) };
    });
}

/** The positions of one process's samples of a metric among those of all processes. */
interface Layout {
  readonly heads: string;
  readonly positions: Uint32Array;
}

/** What is kept of a metric from one scrape to the next. */
interface Shared {
  readonly heads: string[];
  readonly positionOf: Map<string, number>;
  readonly layouts: WeakMap<object, Layout>;
}

/**
 * Combines the metrics of several processes: summed, unless a metric says otherwise. Samples rarely appear
 * or vanish, so the positions of each process's samples are cached, and a scrape only has to add.
 */
export class Together {
  readonly #shared = new Map<string, Shared>();

  /** @param snapshots by process: any object that stays the same for it */
  families(snapshots: ReadonlyMap<object, Snapshot>): readonly Family[] {
    const byName = new Map<string, Map<object, FamilySnapshot>>();
    for (const [ofProcess, snapshot] of snapshots) {
      for (const family of snapshot) {
        const known = byName.get(family.name) ?? new Map<object, FamilySnapshot>();
        byName.set(family.name, known.set(ofProcess, family));
      }
    }
    return [...byName.values()].flatMap((ofProcesses) => this.#combine(ofProcesses));
  }

  #combine(ofProcesses: ReadonlyMap<object, FamilySnapshot>): Family[] {
    const [first] = ofProcesses.values();
    if (first === undefined || first.aggregation === 'omit') return [];
    const { name, help, type, aggregation } = first;
    const shared = this.#sharedOf(name);
    const layouts = [...ofProcesses].map(([ofProcess, family]) => ({
      positions: layoutOf(shared, ofProcess, family.heads).positions,
      values: family.values,
    }));
    const combined = new Float64Array(shared.heads.length);
    /** How many processes have each sample. */
    const times = new Uint32Array(shared.heads.length);
    for (const { positions, values } of layouts) {
      for (const [index, position] of positions.entries()) {
        const before = combined[position] ?? 0;
        const seen = times[position] ?? 0;
        const value = values[index] ?? 0;
        combined[position] = seen === 0 ? value : combine(aggregation, before, value, seen);
        times[position] = seen + 1;
      }
    }
    function* samples() {
      for (const [position, head] of shared.heads.entries()) {
        if ((times[position] ?? 0) !== 0) yield [head, combined[position] ?? 0] as const;
      }
    }
    return [{ name, help, type, aggregation, samples }];
  }

  #sharedOf(name: string): Shared {
    const known = this.#shared.get(name);
    if (known !== undefined) return known;
    const shared: Shared = { heads: [], positionOf: new Map(), layouts: new WeakMap() };
    this.#shared.set(name, shared);
    return shared;
  }
}

function layoutOf(shared: Shared, ofProcess: object, heads: string): Layout {
  const known = shared.layouts.get(ofProcess);
  if (known?.heads === heads) return known;
  const all = heads === '' ? [] : heads.split('\n');
  const unknown: string[] = [];
  const positions = Uint32Array.from(all, (head) => {
    return shared.positionOf.get(head) ?? shared.heads.length + unknown.push(head) - 1;
  });
  remember(shared, unknown);
  const layout = { heads, positions };
  shared.layouts.set(ofProcess, layout);
  return layout;
}

/**
 * New heads are copied, because a part of a text keeps the whole text in memory: otherwise each scrape with a new sample
 * would keep all heads of its metric until the process ends.
 */
function remember({ heads, positionOf }: Shared, unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  for (const head of Buffer.from(unknown.join('\n')).toString().split('\n')) {
    positionOf.set(head, heads.length);
    heads.push(head);
  }
}

/** @param times how many values `before` combines */
function combine(aggregation: Aggregation, before: number, value: number, times: number): number {
  switch (aggregation) {
    case 'sum':
      return before + value;
    case 'max':
      return Math.max(before, value);
    case 'min':
      return Math.min(before, value);
    case 'average':
      return (before * times + value) / (times + 1);
    case 'first':
    case 'omit':
      return before;
    default:
      return unreachable(aggregation);
  }
}
