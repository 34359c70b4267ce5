import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { table } from '../../src/lib/table.ts';

const RESULTS = fileURLToPath(new URL('../results', import.meta.url));
const TITLES = ['benchmark', 'what', 'measured', 'target', 'met'] as const;
const FROM = '<!-- targets -->';
const TO = '<!-- /targets -->';

const result = z.object({
  benchmark: z.string(),
  targets: z
    .array(
      z.object({
        what: z.string(),
        value: z.number(),
        atMost: z.number().optional(),
        atLeast: z.number().optional(),
        met: z.boolean(),
      }),
    )
    .default([]),
});

/** Every target of every stored result, with whether it is met, for people at a terminal. */
export function targetTable(): string {
  return table(
    TITLES.map((title) => ({ title, align: title === 'measured' ? 'right' : 'left' })),
    rows(),
  );
}

/** @returns the page with the same table between its marks. @throws Error if it has no marks */
export function pageWithTargets(page: string): string {
  const [from, to] = [page.indexOf(FROM), page.indexOf(TO)];
  if (from < 0 || to < from) throw new Error(`no ${FROM} … ${TO} on the page`);
  const lines = [TITLES, TITLES.map(() => '---'), ...rows()].map((row) => `| ${row.join(' | ')} |`);
  return `${page.slice(0, from)}${FROM}\n${lines.join('\n')}\n${page.slice(to)}`;
}

function rows(): string[][] {
  const files = readdirSync(RESULTS).filter((file) => file.endsWith('.json'));
  return files.sort().flatMap((file) => {
    const { benchmark, targets } = result.parse(
      JSON.parse(readFileSync(join(RESULTS, file), 'utf8')),
    );
    // Another run, kept for what it compares (docs/performance.md).
    if (file !== `${benchmark}.json`) return [];
    return targets.map(({ what, value, atMost, atLeast, met }) => [
      benchmark,
      what,
      String(value),
      atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`,
      met ? 'yes' : '**no**',
    ]);
  });
}
