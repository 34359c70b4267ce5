import { describe, expect, it } from 'vitest';
import { at, isTree, type Tree } from './support/chart.ts';
import { renderChart } from './support/render.ts';
import { EVERYTHING } from './support/values.ts';

describe('what the rendered chart gives to Prometheus and Grafana', () => {
  const everything = renderChart(EVERYTHING);

  it('gives alerts links to their runbooks that can be followed', () => {
    const linksIn = (manifests: readonly Tree[]) =>
      JSON.stringify(manifests.filter(({ kind }) => kind === 'PrometheusRule')).match(
        /(?<="runbook_url":")[^"]*/g,
      ) ?? [];
    const files = linksIn(everything);
    expect(files).toHaveLength(16);
    for (const file of files) expect(file).toMatch(/^docs\/runbooks\/[a-z]+\.md#[a-z]+$/);
    for (const end of ['', '/']) {
      const runbooks = `https://git.example/docs/runbooks${end}`;
      const links = linksIn(
        renderChart({ ...EVERYTHING, prometheusRule: { enabled: true, runbooks } }),
      );
      expect(links).toEqual(files.map((file) => `https://git.example/${file}`));
    }
  });

  it('carries alerts and dashboards, untouched by templates', () => {
    const rules = everything.filter(({ kind }) => kind === 'PrometheusRule');
    expect(rules.length).toBeGreaterThan(0);
    for (const rule of rules) expect(at(rule, 'spec.groups')).toBeInstanceOf(Array);
    expect(JSON.stringify(rules)).toContain('{{ $labels.operator }}');
    const dashboards = everything.filter(
      (one) => at(one, 'metadata.namespace') === 'monitoring' && one.kind === 'ConfigMap',
    );
    expect(dashboards.length).toBeGreaterThan(0);
    for (const { metadata, data } of dashboards) {
      expect(at(metadata, 'labels')).toMatchObject({ grafana_dashboard: '1' });
      for (const text of Object.values(isTree(data) ? data : {})) {
        expect(JSON.parse(String(text))).toHaveProperty('panels');
      }
    }
  });
});
