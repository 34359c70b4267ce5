import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { at, chartYaml } from './support/chart.ts';
import { containerOf, named } from './support/manifests.ts';
import { renderChart } from './support/render.ts';
import { EVERYTHING, OWN } from './support/values.ts';

const CA = { name: 'NODE_EXTRA_CA_CERTS', value: '/run/secrets/wagergate/ca.pem' };

it('migrates a database whose certificate a private authority signed, as the gateway reaches it', () => {
  const manifests = renderChart({ ...OWN, extraEnv: [CA] });
  for (const [kind, name] of [
    ['Deployment', 'gw-wagergate-http'],
    ['Deployment', 'gw-wagergate-worker'],
    ['Job', 'gw-wagergate-migrate'],
  ] as const) {
    const workload = named(manifests, kind, name);
    expect(at(containerOf(workload), 'env'), name).toContainEqual(CA);
    expect(at(containerOf(workload), 'volumeMounts'), name).toContainEqual(
      expect.objectContaining({ name: 'secret-files', mountPath: '/run/secrets/wagergate' }),
    );
    expect(at(workload, 'spec.template.spec.volumes'), name).toContainEqual(
      expect.objectContaining({ secret: expect.objectContaining({ secretName: 'my-files' }) }),
    );
  }
});

it('migrates before the files of the release are there, and on tainted nodes', () => {
  const taint = { key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' };
  const migration = { nodeSelector: { pool: 'betting' }, tolerations: [taint] };
  const job = named(renderChart({ ...OWN, migration }), 'Job', 'gw-wagergate-migrate');
  expect(at(job, 'spec.template.spec')).toMatchObject({
    nodeSelector: { pool: 'betting' },
    tolerations: [taint],
    volumes: [{ name: 'secret-files', secret: { optional: true, defaultMode: 288 } }],
  });
});

it('lets the migration out before the policies of the release are there, or have its new address', () => {
  const to = [{ ipBlock: { cidr: '192.0.2.7/32' } }];
  const networkPolicy = { postgresql: { port: 6432, directPort: 5432, to } };
  const manifests = renderChart({ ...EVERYTHING, networkPolicy });
  const policy = named(manifests, 'NetworkPolicy', 'gw-wagergate-migrate');
  const job = named(manifests, 'Job', 'gw-wagergate-migrate');
  expect(at(policy, 'metadata.annotations')).toEqual({
    'helm.sh/hook': 'pre-install,pre-upgrade',
    'helm.sh/hook-weight': '-5',
    'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
  });
  expect(at(job, 'spec.template.metadata.labels')).toMatchObject(
    Object(at(policy, 'spec.podSelector.matchLabels')),
  );
  const ofRelease = at(named(manifests, 'NetworkPolicy', 'gw-wagergate'), 'spec.egress');
  const [names, database] = Array.isArray(ofRelease) ? ofRelease : [];
  expect(at(policy, 'spec')).toMatchObject({
    policyTypes: ['Ingress', 'Egress'],
    egress: [names, database],
  });
  expect(at(database, 'ports')).toHaveLength(2);
  expect(at(database, 'to')).toEqual(to);

  const closed = { networkPolicy: { enabled: false } };
  expect(JSON.stringify(renderChart({ ...EVERYTHING, ...closed }))).not.toContain('NetworkPolicy');
});

it('is waited for, by the documented command, for as long as it may take', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/deployment.md'), 'utf8');
  const [, minutes] = /^helm upgrade --install .* --timeout (\d+)m/m.exec(page) ?? [];
  const seconds = at(chartYaml('values.yaml'), 'migration.activeDeadlineSeconds');
  expect(60 * Number(minutes)).toBeGreaterThan(Number(seconds));
});
