import { expect, it } from 'vitest';
import { at } from './support/chart.ts';
import { containerOf, named } from './support/manifests.ts';
import { renderChart } from './support/render.ts';
import { OWN } from './support/values.ts';

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
