import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { boards, panelsOf } from './support/boards.ts';
import { documented } from './support/documented-metrics.ts';
import { hasPrometheus, promtool } from './support/prometheus-programs.ts';

const withPrometheus = await hasPrometheus();

/** Every counter and histogram as it is in a quiet hour: there, and without a step. */
const STANDING_STILL = documented()
  .filter(({ type }) => type !== 'gauge')
  .flatMap(({ name, type, labels }) =>
    type === 'histogram'
      ? [
          ...['5', '+Inf'].map((le) => seriesOf(`${name}_bucket`, [...labels, 'le'], le)),
          ...['_sum', '_count'].map((part) => seriesOf(`${name}${part}`, labels)),
        ]
      : [seriesOf(name, labels)],
  );

/** The panels that show one number in the colour of its step. */
const NUMBERS = boards().flatMap((board) =>
  panelsOf(board)
    .filter(({ type }) => type === 'stat')
    .flatMap(({ title, targets }) =>
      targets.map(({ expr }) => ({ name: `${board.title}, ${title}`, expr })),
    ),
);

function seriesOf(name: string, labels: readonly string[], le = '') {
  const values = labels.map((label) => `${label}="${labelValue(label, le)}"`);
  return { series: `${name}{${values.join(',')}}`, values: '7x60' };
}

function labelValue(label: string, le: string): string {
  if (label === 'le') return le;
  return label === 'operation' ? 'place' : 'alpha';
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wagergate-quiet-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it.skipIf(!withPrometheus)('in a quiet hour no number is a red NaN', async () => {
  const filledIn = NUMBERS.map(({ expr }) =>
    expr.replaceAll('$__rate_interval', '5m').replaceAll('$operator', '.*'),
  );
  // Only NaN differs from itself.
  const tests = filledIn.map((expr) => ({
    ...{ expr: `(${expr}) != (${expr})`, eval_time: '50m', exp_samples: [] },
  }));
  const file = join(folder, 'quiet.yaml');
  const one = { interval: '1m', input_series: STANDING_STILL, promql_expr_test: tests };
  await writeFile(file, stringify({ evaluation_interval: '1m', tests: [one] }));
  const { code, output } = await promtool(['test', 'rules', file]);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('SUCCESS') });
});
