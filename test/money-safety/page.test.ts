import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/money-safety.md'), 'utf8');
const rules = page.split(/^## (?=\d+\. )/m).slice(1);

describe('docs/money-safety.md', () => {
  it.each(rules.map((rule) => [rule.split('\n')[0], rule]))(
    '%s: has its story, its place in the code and a test of these titles',
    (_, rule) => {
      for (const part of ['**Seen.**', '**Rule.**', '**Where.**', '**Test.**']) {
        expect(rule).toContain(part);
      }
      const tests = rule.slice(rule.indexOf('**Test.**'));
      const files = [...tests.matchAll(/`(test\/money-safety\/[\w-]+\.test\.ts)`/g)];
      const source = files
        .map(([, file = '']) => readFileSync(join(ROOT, file), 'utf8'))
        .join('\n');
      const titles = [...rule.matchAll(/^- “(.*)”$/gm)].map(([, title = '']) => title);
      expect(titles.length).toBeGreaterThan(1);
      expect(titles.filter((title) => !source.includes(`'${title}'`))).toEqual([]);
    },
  );

  it.each(rules.map((rule) => [rule.split('\n')[0], rule]))(
    '%s: names functions that are where it says',
    (_, rule) => {
      const where = rule.slice(rule.indexOf('**Where.**'), rule.indexOf('**Test.**'));
      const files = [...where.matchAll(/`(src\/[\w/.-]+\.ts)`/g)].map(([, file = '']) => file);
      const sources = files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n');
      const named = [...where.matchAll(/`(?:\w+\.)?([A-Za-z_]+)`/g)].map(([, name = '']) => name);
      expect(files.length).toBeGreaterThan(0);
      expect(named.filter((name) => name !== 'bets' && !sources.includes(name))).toEqual([]);
    },
  );

  it('leaves no rule’s tests out', () => {
    const files = readdirSync(join(ROOT, 'test/money-safety')).filter(
      (file) => file.endsWith('.test.ts') && file !== 'page.test.ts',
    );
    expect(files.filter((file) => !page.includes(file))).toEqual([]);
  });
});
