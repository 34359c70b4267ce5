import { setImmediate as nextTurn } from 'node:timers/promises';
import { Counter, Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { expositionText, type Family, familiesOf } from '../../src/telemetry/exposition.ts';

const written = async (families: readonly Family[] | Promise<readonly Family[]>) =>
  (await Array.fromAsync(expositionText(families))).join('');

function family(samples: readonly (readonly [string, number])[]): Family {
  const about = { name: 'a', help: 'An a', type: 'gauge', aggregation: 'sum' as const };
  return { ...about, samples: () => samples };
}

describe('the text format', () => {
  it('is what prom-client would write', async () => {
    const registry = new Registry();
    const registers = [registry];
    const counter = new Counter({ name: 'a_total', help: 'A', labelNames: ['b', 'c'], registers });
    counter.inc({ b: 'one', c: 'two' }, 3);
    counter.inc({ b: 'one', c: 'three' });
    new Gauge({ name: 'no_labels', help: 'B', registers }).set(0.25);
    const nasty = new Gauge({ name: 'nasty', help: 'C', labelNames: ['b'], registers });
    nasty.set({ b: 'a "quoted" \\ back\nslash' }, -1);
    const lines = (await written(familiesOf(registry, []))).split('\n');
    const expected = (await registry.metrics()).split('\n').filter((line) => line !== '');
    expect(lines.filter((line) => line !== '')).toEqual(expected);
  });

  it('writes values that are no numbers as Prometheus reads them', async () => {
    const odd = family([
      ['a', Number.NaN],
      ['b', Number.POSITIVE_INFINITY],
      ['c', Number.NEGATIVE_INFINITY],
    ]);
    expect(await written([odd])).toBe('# HELP a An a\n# TYPE a gauge\na NaN\nb +Inf\nc -Inf\n');
  });

  it('keeps a help of several lines on one', async () => {
    const odd = { ...family([]), help: 'one\ntwo \\ three' };
    expect(await written([odd])).toBe('# HELP a one\\ntwo \\\\ three\n# TYPE a gauge\n');
  });

  it('comes in pieces, none much larger than the others', async () => {
    const many = Array.from({ length: 50_000 }, (_, index) => [`a{b="${index}"}`, index] as const);
    const pieces = await Array.fromAsync(expositionText([family(many)]));
    expect(pieces.length).toBeGreaterThan(5);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(130 * 1024);
  });

  it('follows a gauge that was reset', async () => {
    const registry = new Registry();
    const gauge = new Gauge({ name: 'g', help: 'G', labelNames: ['of'], registers: [registry] });
    gauge.set({ of: 'alpha' }, 1);
    await written(familiesOf(registry, []));
    gauge.reset();
    gauge.set({ of: 'beta' }, 2);
    expect(await written(familiesOf(registry, []))).not.toContain('alpha');
  });

  it('lets others have their turn while it writes a great deal', async () => {
    const many = Array.from({ length: 300_000 }, (_, index) => [`a{b="${index}"}`, index] as const);
    let turns = 0;
    let done = false;
    const others = (async () => {
      for (; !done; turns++) await nextTurn();
    })();
    const text = await written([family(many)]);
    done = true;
    await others;
    expect(text.split('\n')).toHaveLength(300_003);
    // Written in one piece, it would let them have the one turn that they have asked for before.
    expect(turns).toBeGreaterThan(1);
  });
});
