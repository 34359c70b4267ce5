import { execFile } from 'node:child_process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Aggregation, Family } from '../../src/telemetry/exposition.ts';
import { countedBy, type Snapshot, snapshotOf, Together } from '../../src/telemetry/snapshot.ts';

type Values = Readonly<Record<string, number>>;

function family(name: string, values: Values, aggregation: Aggregation = 'sum'): Family {
  const samples = () => Object.entries(values);
  return { name, help: '', type: 'gauge', aggregation, samples };
}

/** The snapshot after its way to another process. */
async function arrived(...families: Family[]): Promise<Snapshot> {
  return structuredClone(await snapshotOf(families));
}

const one = { pid: 1 };
const other = { pid: 2 };

function combined(together: Together, snapshots: ReadonlyMap<object, Snapshot>) {
  return Object.fromEntries(
    together.families(snapshots).map(({ name, samples }) => [name, Object.fromEntries(samples())]),
  );
}

describe('the metrics of several processes', () => {
  it.each([
    ['sum', 12],
    ['max', 7],
    ['min', 2],
    ['average', 4],
    ['first', 3],
  ] as const)('are put together as their %s', async (aggregation, expected) => {
    const snapshots = new Map([
      [one, await arrived(family('a', { 'a{b="c"}': 3 }, aggregation))],
      [other, await arrived(family('a', { 'a{b="c"}': 2 }, aggregation))],
      [{ pid: 3 }, await arrived(family('a', { 'a{b="c"}': 7 }, aggregation))],
    ]);
    expect(combined(new Together(), snapshots)).toEqual({ a: { 'a{b="c"}': expected } });
  });

  it('leave out what means nothing together', async () => {
    const snapshot = await arrived(family('a', { a: 1 }, 'omit'));
    expect(combined(new Together(), new Map([[one, snapshot]]))).toEqual({});
  });

  it('keep what only one of them knows, in whatever order they tell it', async () => {
    const snapshots = new Map([
      [one, await arrived(family('a', { x: 1, y: 2 }))],
      [other, await arrived(family('a', { y: 10, z: 20, x: 30 }), family('b', { b: 7 }))],
    ]);
    const expected = { a: { x: 31, y: 12, z: 20 }, b: { b: 7 } };
    expect(combined(new Together(), snapshots)).toEqual(expected);
  });

  it('follow samples that come and go, and processes that leave', async () => {
    const together = new Together();
    const first = await arrived(family('a', { x: 1, y: 2 }));
    const second = await arrived(family('a', { y: 3, z: 4 }));
    expect(combined(together, new Map([[one, first]]))).toEqual({ a: { x: 1, y: 2 } });
    expect(combined(together, new Map([[one, second]]))).toEqual({ a: { y: 3, z: 4 } });
    const both = new Map([
      [one, second],
      [other, first],
    ]);
    expect(combined(together, both)).toEqual({ a: { x: 1, y: 5, z: 4 } });
    expect(combined(together, new Map([[other, first]]))).toEqual({ a: { x: 1, y: 2 } });
  });

  it('still contain the counts of ended processes, but none of their gauges', async () => {
    const counter = (values: Values): Family => ({ ...family('c', values), type: 'counter' });
    const ended = [
      await arrived(counter({ 'c{x="1"}': 5 }), family('g', { g: 1 })),
      await arrived(counter({ 'c{x="1"}': 7, 'c{x="2"}': 1 })),
    ].reduce(countedBy, []);
    const living = await arrived(counter({ 'c{x="1"}': 1 }), family('g', { g: 3 }));
    const all = new Map([
      [one, ended],
      [other, living],
    ]);
    expect(combined(new Together(), all)).toEqual({
      c: { 'c{x="1"}': 13, 'c{x="2"}': 1 },
      g: { g: 3 },
    });
  });

  it('are copied between callbacks, a great deal of them too', async () => {
    // Each sample takes a millisecond; turns of the event loop are real.
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    function* samples() {
      for (let index = 0; index < 1_000; index += 1) {
        vi.advanceTimersByTime(1);
        yield [`a{b="${index}"}`, index] as const;
      }
    }
    let turns = 0;
    let done = false;
    const others = (async () => {
      for (; !done; turns += 1) await nextTurn();
    })();
    const [copy] = await snapshotOf([{ ...family('a', {}), samples }]);
    done = true;
    await others;
    expect(copy?.values).toHaveLength(1_000);
    expect(turns).toBeGreaterThan(10);
  });

  it('keep no earlier snapshot in memory, though each brings a new sample', async () => {
    const script = fileURLToPath(new URL('support/kept-of-scrapes.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script]);
    // A hundred, if each scrape's own text stays.
    expect(Number(stdout)).toBeLessThan(5);
  });

  it('keep values that are no numbers', async () => {
    const snapshots = new Map([[one, await arrived(family('a', { x: Number.NaN }))]]);
    expect(combined(new Together(), snapshots)).toEqual({ a: { x: Number.NaN } });
  });
});
