import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pageWithTargets } from '../bench/support/targets.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** How far a number in prose may be from the measured one. */
const ROUNDING = 0.05;

describe('docs/performance.md', () => {
  const page = read('docs/performance.md');

  it('tells every target and what was measured last; if not: npm run bench -- targets', () => {
    expect(page).toBe(pageWithTargets(page));
  });
});

describe('docs/reference.md', () => {
  const page = read('docs/reference.md');
  const section = page.slice(page.indexOf('## Configuration'), page.indexOf('## Callbacks'));

  it.each(['gateway', 'operator'])('names every setting of the %s’s file', (file) => {
    const schema: unknown = JSON.parse(read(`config/${file}.schema.json`));
    const names = settingsIn(schema);
    expect(names.length).toBeGreaterThan(15);
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(section))).toEqual([]);
  });
});

describe('the numbers in the documents', () => {
  const pages = ['README.md', ...filesBelow('docs')].filter((file) => file.endsWith('.md'));
  // "3,800 <!-- callbacks gateway.requestsPerSecond --> place bets a second"
  const claims = pages.flatMap((page) =>
    [...read(page).matchAll(/([\d,.]+)\s<!-- (\w+) ([\w.]+)(?: \/ (\d+))? -->/g)].map(
      ([, said = '', benchmark = '', path = '', divisor = '1']) => ({
        claim: `${page}: ${said} is ${path} of bench/results/${benchmark}.json`,
        said: Number(said.replaceAll(',', '')),
        measured: measured(benchmark, path) / Number(divisor),
      }),
    ),
  );

  it('are there', () => {
    expect(claims.length).toBeGreaterThan(10);
  });

  it.each(claims)('$claim, rounded', ({ said, measured }) => {
    expect(Math.abs(said - measured) / measured).toBeLessThanOrEqual(ROUNDING);
  });
});

function measured(benchmark: string, path: string): number {
  let value: unknown = JSON.parse(read(`bench/results/${benchmark}.json`));
  for (const name of path.split('.')) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  }
  if (typeof value !== 'number') throw new Error(`${benchmark} has no number ${path}`);
  return value;
}

/** The names of a schema's members, at any depth; those of a dialect have their own section. */
function settingsIn(schema: unknown): string[] {
  const properties: unknown =
    typeof schema === 'object' && schema !== null ? Reflect.get(schema, 'properties') : undefined;
  if (typeof properties !== 'object' || properties === null) return [];
  return Object.entries(properties).flatMap(([name, member]) =>
    name === 'dialect' ? [name] : [name, ...settingsIn(member)],
  );
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort();
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
