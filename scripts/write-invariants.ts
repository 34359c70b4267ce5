// Writes to docs/invariants.md which tests hold which invariant.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const PAGE = join(ROOT, 'docs/invariants.md');
const BEGIN = '<!-- tests:';
const END = '<!-- end -->';
/** The end of a title, up to its quote. */
const TITLE = /\((I\d+(?:, ?I\d+)*)\)(?=['`])/g;

/** The page with its lists updated to the current tests. */
export function pageWith(text: string): string {
  const files = testsByInvariant();
  return text.replaceAll(
    new RegExp(`(${BEGIN} (I\\d+) -->\n).*?(${END})`, 'gs'),
    (_all, begin: string, number: string, end: string) => {
      return `${begin}\n${heldBy(files.get(number) ?? [])}\n${end}`;
    },
  );
}

/** A line per folder: a line per file made a page of eight hundred lines. */
function heldBy(files: readonly string[]): string {
  if (files.length === 0) return 'Held by no test yet.\n';
  const folders = Map.groupBy(files, (file) => dirname(file));
  const lines = [...folders].map(([folder, inside]) => {
    const names = inside.map((file) => basename(file, '.test.ts')).join(', ');
    return `- \`test/${folder === '.' ? '' : `${folder}/`}\`: ${names}\n`;
  });
  return `Held by ${files.length} test files:\n\n${lines.join('')}`;
}

/** Maps `I4` to the files in which the title of a test or suite ends with it: `(I3, I4)`. */
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
