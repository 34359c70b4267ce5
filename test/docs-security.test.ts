import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import packageFile from '../package.json' with { type: 'json' };

const ROOT = resolve(import.meta.dirname, '..');

describe('docs/security.md', () => {
  const rows = rowsOf('docs/security.md').filter(([threat]) => threat !== 'threat');

  it('is a table of threats', () => {
    expect(rows.length).toBeGreaterThan(30);
  });

  it.each(rows)('names a test that there is, against %s', (_threat, control, held) => {
    expect(control).not.toBe('');
    const [, file = '', title = ''] = /^`(test\/\S+\.test\.ts)`: (.+)$/.exec(held ?? '') ?? [];
    expect(existsSync(join(ROOT, file)), held).toBe(true);
    // As the source spells it: a quote in a title may be escaped.
    const spellings = [title, title.replaceAll("'", "\\'")];
    const quoted = spellings.flatMap((one) => [`'${one}'`, `"${one}"`, `'${one} (`]);
    const source = read(file);
    expect(
      quoted.some((one) => source.includes(one)),
      held,
    ).toBe(true);
  });
});

describe('docs/dependencies.md', () => {
  const rows = rowsOf('docs/dependencies.md').filter(([name]) => name !== 'package');

  it('lists the direct dependencies, and no others', () => {
    const names = rows.map(([name = '']) => name.replaceAll('`', ''));
    const { dependencies, devDependencies } = packageFile;
    expect(names).toEqual([...Object.keys(dependencies), ...Object.keys(devDependencies)]);
  });

  it('gives the reason, the place it takes and the licence of each direct dependency', () => {
    const lock: unknown = JSON.parse(read('package-lock.json'));
    const packages = memberOf(lock, 'packages');
    for (const [name = '', why, instead, licence] of rows) {
      expect([why, instead], name).not.toContain('');
      const installed = memberOf(packages, `node_modules/${name.replaceAll('`', '')}`);
      expect(licence, name).toBe(memberOf(installed, 'license'));
    }
  });
});

/** The cells of every row of the page's tables, including their heads. */
function rowsOf(page: string): string[][] {
  return read(page)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '));
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
