import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHART, chartYaml, templates } from './support/chart.ts';

const values = chartYaml('values.yaml');
const all = templates();
const manifests = all.filter(({ name }) => name.endsWith('.yaml'));
const GRAFANA = resolve(CHART, '../../grafana');

describe('the templates of the chart', () => {
  it('uses every value', () => {
    const text = all.map((template) => template.text).join('\n');
    const unused = Object.keys(values).filter((key) => !new RegExp(`alues\\.${key}\\b`).test(text));
    expect(unused).toEqual([]);
  });

  it('makes everything that a release needs', () => {
    const kinds = manifests.flatMap(({ text }) => text.match(/^kind: (\w+)$/gm) ?? []);
    expect([...new Set(kinds.map((kind) => kind.slice(6)))].sort()).toEqual([
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Job',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'PrometheusRule',
      'Secret',
      'Service',
      'ServiceAccount',
      'ServiceMonitor',
    ]);
  });

  it('mounts configuration and secrets as folders, so that a change arrives', () => {
    const pod = all.find(({ name }) => name === '_pod.tpl')?.text ?? '';
    for (const folder of ['gateway', 'operators']) {
      expect(pod).toContain(`mountPath: /etc/wagergate/${folder}\n`);
    }
    expect(pod).not.toMatch(/subPath:/);
    const system = readFileSync(resolve(CHART, '../../scripts/gather-system.sh'), 'utf8');
    expect(system).toContain('ln -s gateway/gateway.yaml "$root/etc/wagergate/gateway.yaml"');
    expect(system).toContain('"$root/etc/wagergate/gateway" "$root/etc/wagergate/operators"');
  });

  it('migrates before pods of the new release start', () => {
    const job = all.find(({ name }) => name === 'migration.yaml')?.text ?? '';
    expect(job.match(/helm\.sh\/hook: pre-install,pre-upgrade/g)).toHaveLength(3);
    expect(job).toContain('args: [migrate]');
  });
});

describe('what the chart carries along', () => {
  it.each([
    ['alerts', '.yaml'],
    ['dashboards', '.json'],
  ])('has the repository’s own %s (node scripts/sync-chart-files.mjs)', (folder, extension) => {
    const own = listed(join(GRAFANA, folder), extension);
    expect(own.length).toBeGreaterThan(0);
    const carried = join(CHART, 'files', folder);
    expect(readdirSync(carried).sort()).toEqual(own);
    for (const file of own) {
      const [copy, original] = [join(carried, file), join(GRAFANA, folder, file)];
      expect(readFileSync(copy, 'utf8'), file).toBe(readFileSync(original, 'utf8'));
    }
  });

  it('fits into ConfigMaps, and into names', () => {
    for (const file of readdirSync(join(CHART, 'files/dashboards'))) {
      expect(readFileSync(join(CHART, 'files/dashboards', file)).length).toBeLessThan(1_000_000);
      expect(file).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.json$/);
    }
  });

  it('has alerts whose text may stand below `spec:`', () => {
    for (const file of readdirSync(join(CHART, 'files/alerts'))) {
      const text = readFileSync(join(CHART, 'files/alerts', file), 'utf8');
      expect(text.replace(/^#.*\n/gm, '').trimStart()).toMatch(/^groups:/);
      expect(file).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.yaml$/);
    }
  });
});

function listed(folder: string, extension: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(extension))
    .sort();
}
