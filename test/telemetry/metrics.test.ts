import { describe, expect, it } from 'vitest';
import { DURATION_BUCKETS_SECONDS } from '../../src/telemetry/makers.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { alerts } from '../grafana/support/alerts.ts';
import { boards, panelsOf } from '../grafana/support/boards.ts';
import { documented } from '../grafana/support/documented-metrics.ts';

/** docs/reference.md, Metrics: other people's dashboards rely on these. */
const PROMISED: Readonly<Record<string, readonly string[]>> = {
  gateway_callbacks_total: ['operator', 'operation', 'outcome'],
  gateway_callback_duration_seconds: ['operator', 'operation'],
  gateway_wallet_requests_total: ['operator', 'operation', 'result'],
  gateway_wallet_request_duration_seconds: ['operator', 'operation'],
  gateway_breaker_state: ['operator', 'class'],
  gateway_in_flight: ['operator', 'class'],
  gateway_rejected_total: ['operator', 'reason'],
  gateway_duplicates_total: ['operator', 'operation', 'source'],
  gateway_conflicts_total: ['operator'],
  gateway_unknown_outcomes_total: ['operator', 'operation'],
  gateway_deliveries: ['operator', 'operation', 'state'],
  gateway_delivery_oldest_seconds: ['operator'],
  gateway_delivery_attempts_total: ['operator', 'operation', 'result'],
  gateway_delivery_lag_seconds: [],
  gateway_signature_failures_total: ['caller'],
  gateway_config_reloads_total: ['result'],
  gateway_repaired_answers_total: ['operator', 'field'],
  gateway_operator_info: ['operator', 'status'],
};

async function exposed(): Promise<ReadonlyMap<string, string>> {
  const metrics = await createMetrics().registry.getMetricsAsJSON();
  return new Map(metrics.map(({ name, type }) => [name, String(type)]));
}

describe('docs/metrics.md', () => {
  it('documents every metric that is exposed, with its type, and no other', async () => {
    const types = new Map(documented().map(({ name, type }) => [name, type]));
    expect(Object.fromEntries([...types].sort())).toEqual(
      Object.fromEntries([...(await exposed())].sort()),
    );
    expect(types.size).toBe(documented().length);
  });

  it('says which question each one answers', () => {
    for (const { name, question } of documented()) expect(question, name).toContain('?');
  });

  it('knows the metrics and labels that the contract promises', () => {
    const labels = new Map(documented().map((metric) => [metric.name, metric.labels]));
    for (const [name, promised] of Object.entries(PROMISED)) {
      expect(labels.get(name), name).toEqual(promised);
    }
  });
});

describe('the metrics', () => {
  it('have edges at the deadline and at the 5 s limit, and are fine below 100 ms', () => {
    expect(DURATION_BUCKETS_SECONDS).toEqual(expect.arrayContaining([1, 2, 4, 4.8, 5]));
    const fine = DURATION_BUCKETS_SECONDS.filter((edge) => edge <= 0.1);
    expect(fine.length).toBeGreaterThanOrEqual(5);
  });

  it('have no gauges of the books if none are kept: a 0 would hide how far behind they are', async () => {
    const lag = async ({ booksLag }: ReturnType<typeof createMetrics>) =>
      (await booksLag.get()).values.map(({ value }) => value);
    // A process with only the role `http`; the alert takes the minimum over all processes.
    const metrics = createMetrics();
    expect(await lag(metrics)).toEqual([]);
    metrics.booksLag.set(7);
    expect(await lag(metrics)).toEqual([7]);
  });

  it('begin with the process’s own beside the gateway’s', async () => {
    const metrics = createMetrics();
    metrics.collectProcessMetrics();
    const names = metrics.registry.getMetricsAsArray().map(({ name }) => name);
    expect(names).toContain('nodejs_eventloop_lag_p99_seconds');
    expect(names.filter((name) => /^nodejs_active_\w+_total$/.test(name))).toEqual([]);
  });

  it('are all that dashboards and alerts ask for', async () => {
    const known = new Set((await exposed()).keys());
    const queries = [
      ...boards().flatMap((board) => panelsOf(board).flatMap(({ targets }) => targets)),
      ...alerts(),
    ].map(({ expr }) => expr);
    const used = new Set(queries.flatMap((expr) => expr.match(/gateway_\w+/g) ?? []));
    const names = [...used].map((name) => name.replace(/_(bucket|count|sum)$/, ''));
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(20);
  });
});
