import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settleClaims } from '../../src/config/claims.ts';
import type { OperatorInForce } from '../../src/config/in-force.ts';
import { ConfigError } from '../../src/config/problems.ts';
import { ConfigurationSource } from '../../src/config/source.ts';
import {
  apiSecret,
  folderWith,
  GATEWAY,
  load,
  operatorYaml,
  problemsOf,
  put,
  SERVICE_SECRET,
  walletSecret,
} from './support/folder.ts';

const HEADER = (value: string) => `  dialect: { headers: { x-key: "${value}" } }`;
const upstream = (cid: string, secret: string) =>
  `bonuses: { upstream: { cid: ${cid}, secrets: ["${secret}"] } }`;
const two = (alpha: string, beta: string) => ({
  'operators/alpha.yaml': alpha,
  'operators/beta.yaml': beta,
});

describe('a secret of two owners', () => {
  it.each([
    ['two wallets', operatorYaml('beta').replace(walletSecret('beta'), walletSecret('alpha'))],
    ['two operators', operatorYaml('beta').replace(apiSecret('beta'), apiSecret('alpha'))],
    [
      'a wallet and another operator',
      operatorYaml('beta').replace(walletSecret('beta'), apiSecret('alpha')),
    ],
    ['an account and another’s wallet', operatorYaml('beta', upstream('b', walletSecret('alpha')))],
  ])('is refused, and not shown: %s', (_what, beta) => {
    const lines = problemsOf(two(operatorYaml('alpha'), beta));
    expect(lines).toEqual([
      expect.stringMatching(
        /^operators\/beta\.yaml: [a-z.]+secrets\[0\]: is a secret of operators\/alpha\.yaml too: give each its own$/,
      ),
    ]);
    expect(lines.join()).not.toContain('the-secret-that');
  });

  it('is refused for the service’s, and for the admin token', () => {
    const alpha = operatorYaml('alpha').replace(walletSecret('alpha'), SERVICE_SECRET);
    expect(problemsOf({ 'operators/alpha.yaml': alpha })).toEqual([
      'operators/alpha.yaml: wallet.secrets[0]: is a secret of gateway.yaml too: give each its own',
    ]);
    const env = { ADMIN_TOKEN: apiSecret('alpha') };
    expect(problemsOf({ 'operators/alpha.yaml': operatorYaml('alpha') }, env)).toEqual([
      'operators/alpha.yaml: api.secrets[0]: is a secret of ADMIN_TOKEN too: give each its own',
    ]);
    expect(problemsOf({}, { ADMIN_TOKEN: SERVICE_SECRET })).toEqual([
      'gateway.yaml: service.secrets[0]: is a secret of ADMIN_TOKEN too: give each its own',
    ]);
  });

  it('is allowed if both are the same partner account, or the same operator', () => {
    const files = two(
      operatorYaml('alpha', upstream('aggregator-key', SERVICE_SECRET)),
      operatorYaml('beta', upstream('aggregator-key', SERVICE_SECRET)),
    );
    expect(load(files).operators.size).toBe(2);
    const both = operatorYaml('alpha').replace(walletSecret('alpha'), apiSecret('alpha'));
    expect(load({ 'operators/alpha.yaml': both }).operators.size).toBe(1);
  });
});

describe('a variable that holds one’s secret', () => {
  const env = { ALPHA_SECRET: walletSecret('alpha'), SERVICE: SERVICE_SECRET, HOST_NAME: 'x' };
  const alpha = operatorYaml('alpha').replace(walletSecret('alpha'), '${ALPHA_SECRET}');

  it('does not reach another’s wallet in a header, or by an address', () => {
    const refused =
      'operators/beta.yaml: takes ALPHA_SECRET, which belongs to operators/alpha.yaml: give each its own';
    expect(
      problemsOf(two(alpha, operatorYaml('beta', '', HEADER('k ${ALPHA_SECRET}'))), env),
    ).toEqual([refused]);
    const address = operatorYaml('beta').replace('/sportsbook', '/${ALPHA_SECRET}');
    expect(problemsOf(two(alpha, address), env)).toEqual([refused]);
  });

  it('is not reached by another name of its file', () => {
    const folder = folderWith({ 'gateway.yaml': GATEWAY, 'secrets/alpha': walletSecret('alpha') });
    const path = join(folder, 'secrets/alpha');
    put(
      folder,
      'operators/alpha.yaml',
      operatorYaml('alpha').replace(walletSecret('alpha'), `\${file:${path}}`),
    );
    put(
      folder,
      'operators/beta.yaml',
      operatorYaml('beta', '', HEADER(`\${file:${folder}/secrets/../secrets/./alpha}`)),
    );
    expect(sourceOn(folder).source.invalidFiles).toEqual(['operators/beta.yaml']);
  });

  it('is the gateway’s where gateway.yaml names it', () => {
    const gateway = GATEWAY.replace(SERVICE_SECRET, '${SERVICE}');
    const beta = operatorYaml('beta', '', HEADER('${SERVICE}'));
    expect(problemsOf({ 'gateway.yaml': gateway, 'operators/beta.yaml': beta }, env)).toEqual([
      'operators/beta.yaml: takes SERVICE, which belongs to gateway.yaml: give each its own',
    ]);
  });

  it('may be shared if it is nobody’s secret, such as a host', () => {
    const withHost = (id: string) => operatorYaml(id, '', HEADER('${HOST_NAME}'));
    expect(load(two(withHost('alpha'), withHost('beta')), env).operators.size).toBe(2);
  });
});

function sourceOn(folder: string, env: NodeJS.ProcessEnv = {}) {
  const warned: object[] = [];
  const logger = {
    info: () => undefined,
    warn: (facts: object) => warned.push(facts),
    error: () => undefined,
  };
  const source = new ConfigurationSource({ folder, env, logger });
  const reload = async () => new ConfigError((await source.reload()).problems).message;
  const secretsOf = (id: string) => source.current.operators.get(id)?.wallet.secrets;
  return { source, reload, secretsOf, warned };
}

describe('while the gateway runs', () => {
  it('who had a secret keeps it, and the one who takes it steps back', async () => {
    const folder = folderWith({
      'gateway.yaml': GATEWAY,
      ...two(operatorYaml('alpha'), operatorYaml('beta')),
    });
    const { reload, secretsOf } = sourceOn(folder);
    // Alphabetically first, and refused nevertheless.
    put(
      folder,
      'operators/alpha.yaml',
      operatorYaml('alpha').replace(walletSecret('alpha'), walletSecret('beta')),
    );
    expect(await reload()).toMatch(/^operators\/alpha\.yaml: wallet\.secrets\[0\]: is a secret of/);
    expect(secretsOf('alpha')).toEqual([walletSecret('alpha')]);
    expect(secretsOf('beta')).toEqual([walletSecret('beta')]);
  });

  it('two operators may exchange their secrets only one after the other', async () => {
    const folder = folderWith({
      'gateway.yaml': GATEWAY,
      ...two(operatorYaml('alpha'), operatorYaml('beta')),
    });
    const { reload, secretsOf } = sourceOn(folder);
    const swap = (id: string, other: string) =>
      put(
        folder,
        `operators/${id}.yaml`,
        operatorYaml(id).replace(walletSecret(id), walletSecret(other)),
      );
    swap('alpha', 'beta');
    swap('beta', 'alpha');
    const said = await reload();
    const now = [secretsOf('alpha'), secretsOf('beta')].flat();
    expect(new Set(now).size).toBe(2);
    if (said === '') expect(now).toEqual([walletSecret('beta'), walletSecret('alpha')]);
  });

  it('an operator in force stays when the service takes its secret, and the service’s change is refused', async () => {
    const folder = folderWith({
      'gateway.yaml': GATEWAY,
      ...two(operatorYaml('alpha'), operatorYaml('beta')),
    });
    const { source, reload } = sourceOn(folder);
    put(folder, 'gateway.yaml', GATEWAY.replace(SERVICE_SECRET, walletSecret('alpha')));
    expect(await reload()).toBe(
      'operators/alpha.yaml: wallet.secrets[0]: is a secret of gateway.yaml too: give each its own',
    );
    expect([...source.current.operators.keys()]).toEqual(['alpha', 'beta']);
  });
});

it('a secret that every file takes by a slip costs a look at each that steps back (I7)', () => {
  const ids = Array.from({ length: 60 }, (_, at) => `operator-${at}`);
  const files = ids.map((id) => [`operators/${id}.yaml`, operatorYaml(id)] as const);
  const folder = folderWith({ 'gateway.yaml': GATEWAY, ...Object.fromEntries(files) });
  const { gateway, gatewayVariables, operators } = sourceOn(folder).source.inForce;
  let looks = 0;
  const counted = (operator: OperatorInForce): OperatorInForce => ({
    ...operator,
    get variables() {
      looks += 1;
      return operator.variables;
    },
  });
  const candidates = [...operators].map(([id, before]) => {
    const api = { ...before.config.api, secrets: ['one-secret-that-all-of-them-took'] };
    const chosen = counted({ ...before, config: { ...before.config, api } });
    return [id, { file: `${id}.yaml`, chosen, fallback: counted(before) }] as const;
  });
  const settled = settleClaims(
    { gateway, gatewayVariables, ownSecrets: new Map() },
    new Map(candidates),
  );
  expect(settled.problems).toHaveLength(ids.length - 1);
  expect(settled.operators.size).toBe(ids.length);
  // It was two for each pair of operator and withdrawn operator: 7,200.
  expect(looks).toBeLessThan(5 * ids.length);
});
