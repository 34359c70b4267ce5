import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const DOCUMENT = resolve(import.meta.dirname, '../../../docs/metrics.md');

export interface Documented {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly question: string;
}

/** The rows of the tables of docs/metrics.md: metric, type, labels, question. */
export function documented(): readonly Documented[] {
  const rows = readFileSync(DOCUMENT, 'utf8').matchAll(
    /^\| `(gateway_\w+)` \| (\w+) \| ([\w, ]*) ?\| (.+) \|$/gm,
  );
  return [...rows].map(([, name = '', type = '', labels = '', question = '']) => ({
    name,
    type,
    labels: labels
      .split(',')
      .map((label) => label.trim())
      .filter((label) => label !== ''),
    question,
  }));
}
