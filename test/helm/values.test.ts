import { Ajv, type AnySchema } from 'ajv';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import pkg from '../../package.json' with { type: 'json' };
import { gatewaySchema } from '../../src/config/schema/gateway-schema.ts';
import { at, chartFile, chartYaml, isTree, type Tree, withValue } from './support/chart.ts';

const KEY = Buffer.alloc(32).toString('base64');
const values = chartYaml('values.yaml');
const schema: unknown = JSON.parse(chartFile('values.schema.json'));
if (!isAnySchema(schema)) throw new Error('the schema is no object');
const validate = new Ajv({ strict: true, strictRequired: false }).compile(schema);

describe('the values of the chart', () => {
  it('are valid as they stand', () => {
    expect(validate(values), JSON.stringify(validate.errors)).toBe(true);
  });

  it('are all known to the schema, and every value of the schema has a default', () => {
    const missing: string[] = [];
    compare(values, schema, '', missing);
    expect(missing).toEqual([]);
  });

  it('belong to the release that they are shipped with', () => {
    const { appVersion, version, apiVersion, name } = chartYaml('Chart.yaml');
    expect({ appVersion, version, apiVersion, name }).toEqual({
      appVersion: pkg.version,
      version: pkg.version,
      apiVersion: 'v2',
      name: 'wagergate',
    });
  });

  it.for([
    ['an unknown key', 'http.replica', 3],
    ['an unknown top-level key', 'htttp', {}],
    ['no replica', 'http.replicas', 0],
    ['a number as text', 'worker.replicas', '2'],
    ['a database that is none', 'secret.databaseUrl', 'mysql://x'],
    ['a short encryption key', 'secret.encryptionKey', 'c2hvcnQ='],
    ['a file name that is no operator id', 'operators.files.Alpha', {}],
    ['an operator without a wallet', 'operators.files.alpha', { id: 'alpha' }],
    ['a secret file with a path', 'secretFiles.files', { 'a/b': 'x' }],
    ['a tag as a digest', 'image.digest', 'latest'],
    ['a log level that is none', 'logging.level', 'loud'],
    ['a share above one', 'logging.readsSample', 1.5],
    ['a range that is no CIDR', 'service.loadBalancerSourceRanges', ['everyone']],
    ['a peer that is none', 'networkPolicy.callers', [{}]],
    ['a label that is no text', 'http.podLabels', { on: true }],
    ['a budget that lets nothing go', 'http.podDisruptionBudget.maxUnavailable', 0],
    ['another affinity', 'worker.antiAffinity', 'maybe'],
    ['a short admin token', 'secret.adminToken', 'token'],
    ['a key list with a short key', 'secret.encryptionKey', `new:${KEY},old:c2hvcnQ=`],
    ['callers without a limit', 'gateway.config.http.maxConnections', 0],
    ['a limit of callers that there is not', 'gateway.config.http.maxConnection', 10],
    ['a name that is an address with a port', 'admin.hosts', ['gateway.example:9090']],
    ['a folder that is not absolute', 'secretFiles.folders', ['secrets']],
    ['no folder, which would mean all of /run/secrets', 'secretFiles.folders', []],
  ] as const)('refuse %s', ([, path, value]) => {
    expect(validate(withValue(values, path, value))).toBe(false);
  });

  it.for([
    ['an operator', 'operators.files.alpha', operator()],
    ['an unlimited wallet rule', 'networkPolicy.wallets', null],
    ['a percentage', 'http.podDisruptionBudget.maxUnavailable', '25%'],
    ['Sentinels', 'secret.redisUrl', 'redis+sentinel://:p@sentinel-1:26379/books'],
    ['a cluster', 'secret.redisUrl', 'redis+cluster://:p@node-1:6379?node=node-2:6379'],
    ['an encryption key', 'secret.encryptionKey', KEY],
    ['a list of keys', 'secret.encryptionKey', `2026b:${KEY},2026a:${KEY}, plain`],
    ['an admin token', 'secret.adminToken', 'the-admins-token-that-is-long-enough'],
    ['a name of the internal listener', 'admin.hosts', ['gateway.ops.example']],
  ] as const)('take %s', ([, path, value]) => {
    expect(validate(withValue(values, path, value)), JSON.stringify(validate.errors)).toBe(true);
  });

  it('limit strangers as the gateway does by itself (I7)', () => {
    const service = { cid: 'key', secrets: ['0123456789abcdef'], bonusApiUrl: 'https://x.example' };
    expect(at(values, 'gateway.config.http')).toEqual(gatewaySchema.parse({ service }).http);
  });

  it('bound strangers as the gateway does', () => {
    const bounds = at(schema, 'properties.gateway.properties.config.properties.http.properties');
    const own = at(z.toJSONSchema(gatewaySchema, { io: 'input' }), 'properties.http.properties');
    for (const [name, bound] of Object.entries(isTree(own) ? own : {})) {
      const {
        minimum = 1,
        exclusiveMinimum,
        maximum,
      } = z
        .object({
          minimum: z.number().optional(),
          exclusiveMinimum: z.number().optional(),
          maximum: z.number(),
        })
        .parse(bound);
      expect(at(bounds, name), name).toEqual({
        type: 'integer',
        minimum: exclusiveMinimum === undefined ? minimum : exclusiveMinimum + 1,
        maximum,
      });
    }
    expect(Object.keys(isTree(bounds) ? bounds : {})).toHaveLength(1);
  });

  it('give a pod more time to end than the gateway needs for requests in flight', () => {
    const graceSeconds = Number(at(values, 'shutdown.terminationGracePeriodSeconds'));
    const preStopSeconds = Number(at(values, 'shutdown.preStopSeconds'));
    expect(preStopSeconds).toBeGreaterThan(0);
    expect(graceSeconds).toBeGreaterThanOrEqual(preStopSeconds + 12);
  });

  it('run as an unprivileged user, on a read-only root file system', () => {
    expect(at(values, 'podSecurityContext')).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(at(values, 'securityContext')).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('keep two processes of each kind at least, and memory within a limit', () => {
    for (const component of ['http', 'worker']) {
      expect(Number(at(values, `${component}.replicas`))).toBeGreaterThanOrEqual(2);
      expect(at(values, `${component}.resources.limits.memory`)).toMatch(/^\d+Mi$/);
      expect(at(values, `${component}.resources.requests.cpu`)).toMatch(/^\d+m$/);
    }
  });
});

/** Where free keys are allowed, there is nothing to compare. */
function compare(tree: Tree, node: unknown, path: string, missing: string[]): void {
  const known = at(resolved(node), 'properties');
  if (!isTree(known)) return;
  for (const [key, child] of Object.entries(known)) {
    if (key === 'global' || key === 'claims') continue;
    const value = tree[key];
    if (value === undefined) missing.push(`${path}${key} has no default`);
    else if (isTree(value)) compare(value, child, `${path}${key}.`, missing);
  }
  for (const key of Object.keys(tree)) {
    if (!(key in known)) missing.push(`${path}${key} is not in the schema`);
  }
}

function resolved(node: unknown): unknown {
  const reference = at(node, '$ref');
  if (typeof reference !== 'string') return node;
  return at(schema, reference.replace('#/', '').replaceAll('/', '.'));
}

function operator(): Tree {
  return {
    id: 'alpha',
    name: 'Alpha',
    wallet: { baseUrl: 'https://wallet.alpha.example', secrets: ['s'] },
    api: { cid: 'alpha-key', secrets: ['s'] },
    currencies: ['USD'],
  };
}

function isAnySchema(value: unknown): value is AnySchema & Tree {
  return isTree(value);
}
