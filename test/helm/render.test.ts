import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { BlockList } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ConfigurationSource } from '../../src/config/source.ts';
import { isPublicAddress } from '../../src/lib/public-address.ts';
import { at, isTree, type Tree } from './support/chart.ts';
import { containerOf, named, secretsIn } from './support/manifests.ts';
import { mount, mountFiles } from './support/mounts.ts';
import { renderChart, renderNotes } from './support/render.ts';
import { ALPHA, EVERYTHING, OWN, SECRET } from './support/values.ts';

const kindsOf = (manifests: readonly Tree[]) =>
  [...new Set(manifests.map(({ kind }) => kind))].sort();

describe('the rendered chart', () => {
  const everything = renderChart(EVERYTHING);
  const http = named(everything, 'Deployment', 'gw-wagergate-http');
  const worker = named(everything, 'Deployment', 'gw-wagergate-worker');

  it('gives every manifest a name and the labels of the release, within their limits', () => {
    expect(everything.length).toBeGreaterThan(20);
    const names = everything.map(({ kind, metadata }) => `${kind}/${at(metadata, 'name')}`);
    expect(new Set(names).size).toBe(names.length);
    for (const manifest of everything) {
      expect(at(manifest, 'metadata.name')).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
      const labels = at(manifest, 'metadata.labels');
      expect(labels).toMatchObject({
        'app.kubernetes.io/name': 'wagergate',
        'app.kubernetes.io/instance': 'gw',
      });
      for (const label of Object.values(isTree(labels) ? labels : {})) {
        expect(label).toMatch(/^[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/);
      }
    }
  });

  it('selects with every selector the pods that are meant', () => {
    for (const [deployment, component] of [
      [http, 'http'],
      [worker, 'worker'],
    ] as const) {
      const labels = at(deployment, 'spec.template.metadata.labels');
      expect(labels).toMatchObject({ 'app.kubernetes.io/component': component });
      expect(labels).toMatchObject(Object(at(deployment, 'spec.selector.matchLabels')));
      const budget = named(everything, 'PodDisruptionBudget', `gw-wagergate-${component}`);
      expect(at(budget, 'spec.selector')).toEqual(at(deployment, 'spec.selector'));
      const scaler = named(everything, 'HorizontalPodAutoscaler', `gw-wagergate-${component}`);
      expect(at(scaler, 'spec.scaleTargetRef.name')).toBe(at(deployment, 'metadata.name'));
      // The autoscaler decides how many replicas there are.
      expect(at(deployment, 'spec.replicas')).toBeUndefined();
    }
    const service = named(everything, 'Service', 'gw-wagergate');
    expect(at(service, 'spec.selector')).toEqual(at(http, 'spec.selector.matchLabels'));
  });

  it('keeps the two kinds of processes apart', () => {
    const envOf = (workload: Tree) => at(containerOf(workload), 'env');
    expect(envOf(http)).toContainEqual({ name: 'ROLES', value: 'http' });
    expect(envOf(worker)).toContainEqual({ name: 'ROLES', value: 'worker' });
    expect(at(containerOf(http), 'ports')).toHaveLength(2);
    expect(at(containerOf(worker), 'ports')).toEqual([{ name: 'admin', containerPort: 9090 }]);
  });

  it('passes numbers to the environment as text', () => {
    for (const workload of [http, worker]) {
      const env = at(containerOf(workload), 'env');
      if (!Array.isArray(env)) throw new Error('no env');
      for (const { value } of env) expect(typeof value).toBe('string');
      expect(env).toContainEqual({ name: 'OTEL_TRACES_SAMPLER_ARG', value: '0.1' });
    }
  });

  it.each([http, worker, named(everything, 'Job', 'gw-wagergate-migrate')])(
    'runs as an unprivileged user, with nothing it could write or misuse ($metadata.name)',
    (workload) => {
      expect(at(containerOf(workload), 'securityContext')).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const pod = at(workload, 'spec.template.spec');
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(at(containerOf(workload), 'resources.limits.memory')).toBeDefined();
    },
  );

  it('ends a pod only after balancers have let go of it and its calls are over', () => {
    for (const workload of [http, worker]) {
      expect(at(workload, 'spec.template.spec.terminationGracePeriodSeconds')).toBe(30);
      const stop = at(containerOf(workload), 'lifecycle.preStop.exec.command');
      expect(stop).toEqual(['sleep', '5']);
      expect(at(workload, 'spec.strategy.rollingUpdate.maxUnavailable')).toBe(0);
      for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
        expect(at(containerOf(workload), `${probe}.httpGet.port`)).toBe('admin');
      }
    }
    expect(() => renderChart({ ...OWN, shutdown: { preStopSeconds: 20 } })).toThrow(
      'terminationGracePeriodSeconds must be at least',
    );
  });

  it('refuses to scale between more replicas than there may be', () => {
    const autoscaling = { enabled: true, minReplicas: 5, maxReplicas: 3 };
    expect(() => renderChart({ ...OWN, worker: { autoscaling } })).toThrow(
      'worker.autoscaling.minReplicas must not be above its maxReplicas',
    );
  });

  it('mounts configuration that the gateway accepts, where the image looks for it', () => {
    const mounts = at(containerOf(http), 'volumeMounts');
    expect(mounts).toContainEqual(mount('gateway', '/etc/wagergate/gateway'));
    expect(mounts).toContainEqual(mount('operators', '/etc/wagergate/operators'));
    expect(mounts).toContainEqual(mount('secret-files', '/run/secrets/wagergate'));

    const folder = mkdtempSync(join(tmpdir(), 'wagergate-chart-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    // As the Dockerfile does.
    symlinkSync('gateway/gateway.yaml', join(folder, 'gateway.yaml'));
    const secrets = secretsIn(named(everything, 'Secret', 'gw-wagergate-files'));
    mountFiles(join(folder, 'secrets'), secrets);
    for (const part of ['gateway', 'operators']) {
      const data = at(named(everything, 'ConfigMap', `gw-wagergate-${part}`), 'data');
      mountFiles(join(folder, part), data, (text) =>
        text.replaceAll('/run/secrets/wagergate', join(folder, 'secrets')),
      );
    }
    const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const { current } = new ConfigurationSource({ folder, env: {}, logger: quiet });
    expect(current.operators.get('alpha')).toMatchObject({
      wallet: { secrets: ['alpha-wallet-secret'], timeoutMs: 3000 },
      delivery: { maxBackoffMs: 3_000_000 },
    });
    expect(current.gateway.service.secrets).toEqual(['the-services-secret']);
  });

  it('restarts for another environment, and never for another operator', () => {
    const podOf = (values: Tree) =>
      at(named(renderChart(values), 'Deployment', 'gw-wagergate-http'), 'spec.template');
    const before = podOf(EVERYTHING);
    const files = { alpha: ALPHA, beta: { ...ALPHA, id: 'beta' } };
    expect(podOf({ ...EVERYTHING, operators: { files } })).toEqual(before);
    const secretFiles = { ...EVERYTHING.secretFiles, files: { service: 'new' } };
    expect(podOf({ ...EVERYTHING, secretFiles })).toEqual(before);
    const secret = { ...EVERYTHING.secret, databaseUrl: 'postgresql://u:new@db/wagergate' };
    expect(podOf({ ...EVERYTHING, secret })).not.toEqual(before);
  });

  it('migrates first, with nothing that comes only with the release', () => {
    const job = named(everything, 'Job', 'gw-wagergate-migrate');
    const secret = named(everything, 'Secret', 'gw-wagergate-migrate');
    const hook = (manifest: Tree) => at(manifest, 'metadata.annotations');
    for (const manifest of [job, secret]) {
      expect(hook(manifest)).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    }
    const weightOf = (manifest: Tree) => {
      const annotations = hook(manifest);
      return Number(isTree(annotations) ? annotations['helm.sh/hook-weight'] : undefined);
    };
    expect(weightOf(secret)).toBeLessThan(weightOf(job));
    const env = at(containerOf(job), 'env');
    expect(env).toEqual([
      {
        name: 'DATABASE_URL',
        valueFrom: { secretKeyRef: { name: 'gw-wagergate-migrate', key: 'DATABASE_URL' } },
      },
      {
        name: 'DATABASE_DIRECT_URL',
        valueFrom: {
          secretKeyRef: {
            name: 'gw-wagergate-migrate',
            key: 'DATABASE_DIRECT_URL',
            optional: true,
          },
        },
      },
    ]);
    expect(secretsIn(secret)).toEqual({ DATABASE_URL: EVERYTHING.secret.databaseUrl });
    expect(at(job, 'spec.template.spec.serviceAccountName')).toBeUndefined();
  });

  it('uses what there is already, and makes no second', () => {
    const own = renderChart(OWN);
    expect(kindsOf(own)).not.toContain('Secret');
    expect(kindsOf(own)).not.toContain('ConfigMap');
    const deployment = named(own, 'Deployment', 'gw-wagergate-http');
    expect(at(containerOf(deployment), 'envFrom')).toEqual([{ secretRef: { name: 'my-secret' } }]);
    expect(at(deployment, 'spec.template.spec.volumes')).toEqual([
      { name: 'gateway', configMap: { name: 'my-gateway' } },
      { name: 'operators', configMap: { name: 'my-operators' } },
      { name: 'secret-files', secret: { secretName: 'my-files', defaultMode: 0o440 } },
    ]);
    const [env] = Object.values(Object(at(containerOf(named(own, 'Job', MIGRATE)), 'env')));
    expect(env).toMatchObject({ valueFrom: { secretKeyRef: { name: 'my-secret' } } });
  });

  it('says what is missing instead of starting without it', () => {
    expect(() => renderChart({})).toThrow('secret.databaseUrl is needed');
    const { encryptionKey: _, ...rest } = SECRET;
    expect(() => renderChart({ secret: rest })).toThrow('secret.encryptionKey is needed');
    expect(renderNotes(EVERYTHING)).not.toContain('no operators');
    expect(renderNotes({ secret: SECRET })).toContain('There are no operators yet');
  });

  it('lets pods reach wallets on public addresses only, and be reached where they should', () => {
    const policy = named(everything, 'NetworkPolicy', 'gw-wagergate');
    const egress = at(policy, 'spec.egress');
    expect(egress).toContainEqual({
      ports: [{ port: 443, protocol: 'TCP' }],
      to: [
        {
          ipBlock: {
            cidr: '0.0.0.0/0',
            except: expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '192.168.0.0/16']),
          },
        },
      ],
    });
    expect(JSON.stringify(at(policy, 'spec.ingress'))).not.toContain('8080');
    // No rule may open a port to every address.
    for (const rule of Array.isArray(egress) ? egress : []) {
      expect(at(rule, 'to')).toEqual(expect.any(Array));
    }
    const callers = named(everything, 'NetworkPolicy', 'gw-wagergate-callers');
    expect(at(callers, 'spec.podSelector')).toEqual(at(http, 'spec.selector'));
    const none = renderChart({ ...OWN, networkPolicy: { monitoring: [], wallets: null } });
    expect(at(named(none, 'NetworkPolicy', 'gw-wagergate'), 'spec.ingress')).toEqual([]);
  });

  it('closes to wallets exactly the addresses that the gateway refuses', () => {
    const rules = at(named(everything, 'NetworkPolicy', 'gw-wagergate'), 'spec.egress');
    const wallets = (Array.isArray(rules) ? rules : []).find((rule) =>
      JSON.stringify(rule).includes('"except"'),
    );
    const closed = new BlockList();
    for (const range of Object(at(wallets, 'to'))[0].ipBlock.except) {
      const [address, prefix] = String(range).split('/');
      closed.addSubnet(String(address), Number(prefix));
    }
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(closed.check(address)).toBe(!isPublicAddress(address));
      }),
      { numRuns: 2_000 },
    );
    expect(closed.check('168.63.129.16')).toBe(true);
  });

  it('scrapes the internal listener of both kinds', () => {
    const monitor = named(everything, 'ServiceMonitor', 'gw-wagergate');
    const service = named(everything, 'Service', 'gw-wagergate-admin');
    expect(at(service, 'metadata.labels')).toMatchObject(
      Object(at(monitor, 'spec.selector.matchLabels')),
    );
    for (const workload of [http, worker]) {
      expect(at(workload, 'spec.template.metadata.labels')).toMatchObject(
        Object(at(service, 'spec.selector')),
      );
    }
  });

  it('leaves out what is switched off', () => {
    const little = renderChart({
      ...OWN,
      migration: { enabled: false },
      networkPolicy: { enabled: false },
      serviceAccount: { create: false },
      http: { autoscaling: { enabled: false }, podDisruptionBudget: { enabled: false } },
      worker: { podDisruptionBudget: { enabled: false } },
    });
    expect(kindsOf(little)).toEqual(['Deployment', 'Service']);
    const deployment = named(little, 'Deployment', 'gw-wagergate-http');
    expect(at(deployment, 'spec.replicas')).toBe(3);
    expect(at(deployment, 'spec.template.spec.serviceAccountName')).toBe('default');
  });
});

const MIGRATE = 'gw-wagergate-migrate';
