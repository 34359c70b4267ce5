import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Alert, alerts, alertsFolder } from './support/alerts.ts';
import { boards, panelsOf } from './support/boards.ts';
import { documented } from './support/documented-metrics.ts';
import { type Night, startNight } from './support/night.ts';
import { type Prometheus, type Sample, startPrometheus } from './support/prometheus.ts';
import { hasPrometheus, promtool } from './support/prometheus-programs.ts';

const SCRAPE_MS = 500;
/** Scrapes with traffic in between, so that every rate has a slope. */
const SCRAPES = 8;
/** For the first run, which may have to fetch Prometheus, on a machine that others use too. */
const START_MS = 240_000;
const SCRAPED_MS = 60_000;
/** For what only the next scrapes show. */
const PATIENT = { timeout: 15_000, interval: 100 };

/** Alerts that this night must raise; all others must be silent. */
const FIRING = [
  'WagergateBonusApiFails',
  'WagergateBreakerOpen',
  'WagergateConfigInvalid',
  'WagergateConflicts',
  'WagergateDeliveryDead',
  'WagergateDeliveryOverdue',
  'WagergateResultsUnknown',
  'WagergateSignatureFailures',
  'WagergateWalletFails',
];

const withPrometheus = await hasPrometheus();

let night: Night;
let startedAtMs: number;
let prometheus: Prometheus;
beforeAll(async () => {
  if (!withPrometheus) return;
  startedAtMs = performance.now();
  night = await startNight();
  prometheus = await startPrometheus({
    target: night.target,
    scrapeIntervalMs: SCRAPE_MS,
    ruleFiles: readdirSync(alertsFolder).map((name) => join(alertsFolder, name)),
  });
  await scraped(1);
  await night.incidents();
  await scraped(SCRAPES);
}, START_MS);
afterAll(async () => {
  await prometheus?.stop();
  await night?.close();
});

/** Repeats the traffic, at least this many times, until Prometheus has this many more scrapes. */
async function scraped(more: number): Promise<void> {
  const count = async () => {
    const [sample] = await prometheus.now('count_over_time(gateway_build_info[10m])');
    return sample?.values[0] ?? 0;
  };
  const until = (await count()) + more;
  const endsAtMs = performance.now() + SCRAPED_MS;
  for (let times = 0; times < more || (await count()) < until; times += 1) {
    if (performance.now() > endsAtMs) throw new Error('Prometheus does not scrape the gateway');
    await night.traffic();
  }
}

/** A query's answer over the whole night so far. */
async function soFar(query: string): Promise<readonly Sample[]> {
  return await prometheus.range(query, (performance.now() - startedAtMs) / 1000);
}

/** A query of a dashboard as Grafana would send it. */
function filledIn(expr: string): string {
  return expr
    .replaceAll('$__rate_interval', '10s')
    .replaceAll('$__range', '10m')
    .replaceAll('$operator', 'alpha|beta|gamma|delta');
}

function hasData(samples: readonly Sample[]): boolean {
  return samples.some(({ values }) => values.some((value) => !Number.isNaN(value)));
}

const queries = boards().flatMap((board) =>
  panelsOf(board).flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({ name: `${board.title}, ${title}`, expr })),
  ),
);

describe.skipIf(!withPrometheus)('a real Prometheus', () => {
  it.each(documented())('knows $name, with the labels that are documented', async (metric) => {
    const { name, type, labels } = metric;
    const query = type === 'histogram' ? `${name}_count` : name;
    await expect.poll(async () => (await soFar(query)).length, PATIENT).toBeGreaterThan(0);
    for (const sample of await soFar(query)) {
      const { __name__: _, instance, job, ...own } = sample.labels;
      expect([instance, job]).toEqual([night.target, 'wagergate']);
      expect(Object.keys(own).sort()).toEqual([...labels].sort());
    }
  });

  it.each(queries)('has data for $name: $expr', async ({ expr }) => {
    const query = filledIn(expr);
    expect(query).not.toContain('$');
    await expect.poll(async () => hasData(await soFar(query)), PATIENT).toBe(true);
  });

  it.each(alerts())('finds $alert as it has to be', async ({ alert, expr }: Alert) => {
    const isFiring = async () => (await prometheus.now(expr)).length > 0;
    if (FIRING.includes(alert)) await expect.poll(isFiring, PATIENT).toBe(true);
    else expect(await isFiring()).toBe(false);
  });

  it('evaluates every rule', async () => {
    await vi.waitFor(async () => expect(await prometheus.now('ALERTS')).not.toEqual([]), PATIENT);
    expect(await prometheus.rulesInError()).toEqual([]);
  });

  it('shows what happened: all inside 5 s, two dead letters, an old rollback, an open breaker', async () => {
    const shownBy = async (title: string) => {
      const found = queries.find(({ name }) => name === `Wagergate / Overview, ${title}`);
      const samples = await prometheus.now(
        filledIn(found?.expr ?? '').replaceAll('[10s]', '[10m]'),
      );
      return samples[0]?.values[0];
    };
    expect(await shownBy('Inside 5 s')).toBe(1);
    expect(await shownBy('Dead letters')).toBe(2);
    expect(await shownBy('Oldest rollback')).toBeGreaterThan(3_600);
    expect(await shownBy('Open breakers')).toBeGreaterThanOrEqual(1);
    expect(await shownBy('Unknown')).toBeGreaterThan(0);
  });

  it('tells who it is that is shut out, and no other', async () => {
    const rule = alerts().find(({ alert }) => alert === 'WagergateBreakerOpen');
    const shutOut = await prometheus.now(rule?.expr ?? '');
    expect(new Set(shutOut.map(({ labels }) => labels.operator))).toEqual(new Set(['beta']));
  });
});

it.skipIf(!withPrometheus)('promtool finds nothing to say about the metrics', async () => {
  const input = await (await fetch(`http://${night.target}/metrics`)).text();
  expect(await promtool(['check', 'metrics'], { input })).toEqual({ code: 0, output: '' });
});
