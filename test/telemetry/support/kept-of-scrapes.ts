import { deserialize, serialize } from 'node:v8';
import type { Family } from '../../../src/telemetry/exposition.ts';
import { snapshotOf, Together } from '../../../src/telemetry/snapshot.ts';

/**
 * Combines the metrics of a process with one sample more at each scrape, and prints how many times the bytes of all
 * samples' heads are kept afterwards. To be run with `--expose-gc`: a test's own process also keeps things.
 */
const SAMPLES = 10_000;
const SCRAPES = 100;

const heads = Array.from(
  { length: SAMPLES + SCRAPES },
  (_, n) =>
    `gateway_callbacks_total{operator="operator-${n}",operation="place",outcome="accepted"}`,
);
const size = heads.join('\n').length;
const together = new Together();
const worker = { pid: 1 };

await scrape(SAMPLES);
const before = usedBytes();
for (let n = 1; n <= SCRAPES; n += 1) await scrape(SAMPLES + n);
console.log((usedBytes() - before) / size);

/** The snapshot comes over a pipe between processes, where each text arrives anew. */
async function scrape(count: number): Promise<void> {
  const samples = () => heads.slice(0, count).map((head) => [head, 1] as const);
  const family: Family = { name: 'a', help: '', type: 'counter', aggregation: 'sum', samples };
  const snapshot = deserialize(serialize(await snapshotOf([family])));
  for (const combined of together.families(new Map([[worker, snapshot]]))) {
    for (const _sample of combined.samples());
  }
}

function usedBytes(): number {
  if (globalThis.gc === undefined) throw new Error('run it with --expose-gc');
  // What only weak references hold goes with the second.
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
