// Writes into docs/invariants.md which tests hold which invariant.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs/invariants.md');
const BEGIN = '<!-- tests:';
const END = '<!-- end -->';
/** What a title ends with, up to its quote. */
const TITLE = /\((I\d+(?:, ?I\d+)*)\)(?=['`])/g;

/** The page with its lists as the tests now are. */
export function pageWith(text: string): string {
  const files = testsByInvariant();
  return text.replaceAll(
    new RegExp(`(${BEGIN} (I\\d+) -->\n).*?(${END})`, 'gs'),
    (_all, begin: string, number: string, end: string) => {
      const list = (files.get(number) ?? []).map((file) => `- \`test/${file}\`\n`);
      const held = list.length === 0 ? 'Held by no test yet.\n' : `Held by:\n\n${list.join('')}`;
      return `${begin}\n${held}\n${end}`;
    },
  );
}

/** `I4` to the files in which the title of a test or suite ends with it: `(I3, I4)`. */
function testsByInvariant(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const names = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' });
  for (const file of names.filter((name) => name.endsWith('.test.ts')).sort()) {
    const titles = readFileSync(join(ROOT, 'test', file), 'utf8').matchAll(TITLE);
    const numbers = [...titles].flatMap(([, listed = '']) => listed.split(/, ?/));
    for (const number of new Set(numbers)) {
      found.set(number, [...(found.get(number) ?? []), file]);
    }
  }
  return found;
}

if (import.meta.main) writeFileSync(PAGE, pageWith(readFileSync(PAGE, 'utf8')));
