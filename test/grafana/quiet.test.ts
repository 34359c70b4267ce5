import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

/** One replica with both roles, for which nothing is to be done. */
const IDLE = [
  { series: 'up{instance="a"}', values: '1x60' },
  { series: 'gateway_build_info{version="1",instance="a"}', values: '1x60' },
  { series: 'gateway_drains_total{by="sweep",instance="a"}', values: '0x60' },
];

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
  // Only NaN differs from itself.
  await nothingComesOf(
    NUMBERS.map(({ expr }) => `(${expr}) != (${expr})`),
    STANDING_STILL,
  );
});

it.skipIf(!withPrometheus)('while nobody is scraped, no number says that all is well', async () => {
  await nothingComesOf(
    NUMBERS.map(({ expr }) => expr),
    [],
  );
});

it.skipIf(!withPrometheus)(
  'as soon as nobody is scraped, no number lasts from before',
  async () => {
    const ended = [
      ...STANDING_STILL,
      { series: 'gateway_build_info{version="1"}', values: '' },
    ].map(({ series }) => ({ series, values: '7+7x47 stale' }));
    await nothingComesOf(
      NUMBERS.map(({ expr }) => expr),
      ended,
    );
  },
);

it.skipIf(!withPrometheus)('without a worker, no number claims that nothing waits', async () => {
  const byWorkers =
    /gateway_(deliveries|rollback_oldest|unresolved_bets|bonus_open|delivery_attempts)/;
  const numbers = NUMBERS.filter(({ expr }) => byWorkers.test(expr));
  expect(numbers.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'Wagergate / Overview, Oldest rollback',
      'Wagergate / Overview, Dead letters',
      'Wagergate / Deliveries, Time to empty',
      'Wagergate / Money safety, Dead rollbacks',
      'Wagergate / Bonus, Open intents',
    ]),
  );
  await nothingComesOf(
    numbers.map(({ expr }) => expr),
    [{ series: 'gateway_build_info{version="1"}', values: '1x60' }],
  );
});

describe.skipIf(!withPrometheus)('the time until a backlog is empty', () => {
  const time = NUMBERS.find(({ name }) => name === 'Wagergate / Deliveries, Time to empty');
  const waiting = (operator: string, state: string) =>
    `gateway_deliveries{operator="${operator}",operation="rollback",state="${state}"}`;
  const oldest = (operator: string) => `gateway_delivery_oldest_seconds{operator="${operator}"}`;
  const attempts = 'gateway_delivery_attempts_total{operator="alpha",result="accepted"}';
  /** What the panel shows of these gauges and so many deliveries. */
  const isShown = async (
    gauges: Readonly<Record<string, number>>,
    delivered: string,
    value?: number,
  ) =>
    await holds(
      [
        {
          expr: time?.expr ?? '',
          exp_samples: value === undefined ? [] : [{ labels: '{}', value }],
        },
      ],
      [
        { series: 'gateway_drains_total{by="sweep"}', values: '0x60' },
        { series: attempts, values: delivered },
        ...Object.entries(gauges).map(([series, gauge]) => ({ series, values: `${gauge}x60` })),
      ],
    );

  it('is never where nobody delivers it, and otherwise what the pace says', async () => {
    const old = { [waiting('alpha', 'pending')]: 7, [oldest('alpha')]: 301 };
    await isShown(old, '5x60', -1);
    await isShown({ ...old, [waiting('alpha', 'pending')]: 120 }, '0+60x60', 120);
    await isShown({ [waiting('alpha', 'pending')]: 0 }, '5x60', 0);
  });

  it('is not never where all is well: a callback under way, a repeat that waits to confirm', async () => {
    // What is attempted inside its callback is young, and no worker's attempt; a confirmation has no age.
    const young = { [waiting('alpha', 'pending')]: 1, [oldest('alpha')]: 0 };
    await isShown(young, '5x60');
    // Nor do another operator's held deliveries make it old.
    await isShown({ ...young, [waiting('beta', 'held')]: 9, [oldest('beta')]: 9_000 }, '5x60');
  });
});

it.skipIf(!withPrometheus)('in a healthy, idle hour no count is missing: each is 0', async () => {
  const rates = /Inside 5 s|Unknown|Youngest|age$|Redis policy|Replicas$/;
  const counts = NUMBERS.filter(({ name }) => !rates.test(name));
  expect(counts.length).toBeGreaterThan(18);
  await holds(
    counts.map(({ expr }) => ({ expr, exp_samples: [{ labels: '{}', value: 0 }] })),
    IDLE,
  );
});

it.skipIf(!withPrometheus)(
  'a replica is gone while it does not answer, and not once it was replaced',
  async () => {
    const gone = NUMBERS.find(({ name }) => name === 'Wagergate / Runtime, Replicas gone');
    const isShown = async (value: number, up: string) =>
      await holds(
        [{ expr: gone?.expr ?? '', exp_samples: [{ labels: '{}', value }] }],
        [
          ...IDLE,
          { series: 'up{instance="b"}', values: up },
          { series: 'gateway_build_info{version="1",instance="b"}', values: '1x20 stale' },
        ],
      );
    await isShown(1, '1x20 0x60');
    await isShown(0, '1x20 stale');
  },
);

type Series = typeof STANDING_STILL;

async function nothingComesOf(queries: readonly string[], series: Series): Promise<void> {
  await holds(
    queries.map((expr) => ({ expr, exp_samples: [] })),
    series,
  );
}

/** Lets promtool evaluate queries, as Grafana would send them, after a while with these series. */
async function holds(
  expected: readonly { readonly expr: string; readonly exp_samples: readonly object[] }[],
  series: Series,
): Promise<void> {
  const tests = expected.map(({ expr, exp_samples }) => ({
    expr: expr
      .replaceAll('$__rate_interval', '5m')
      .replaceAll('$__range', '40m')
      .replaceAll('$operator', '.*'),
    ...{ eval_time: '50m', exp_samples },
  }));
  const file = join(folder, 'quiet.yaml');
  const one = { interval: '1m', input_series: series, promql_expr_test: tests };
  await writeFile(file, stringify({ evaluation_interval: '1m', tests: [one] }));
  const { code, output } = await promtool(['test', 'rules', file]);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('SUCCESS') });
}
