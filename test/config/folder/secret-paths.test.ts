import { describe, expect, it } from 'vitest';
import { isOwnVariable } from '../../../src/config/folder/own-variables.ts';
import { viewOf } from '../../../src/config/settings-view.ts';
import { alphaProblems, load, loadAlpha, operatorYaml } from '../support/folder.ts';
import { variablesRead } from '../support/variables-read.ts';

const HEADER = (value: string) => `  dialect: { headers: { x-key: "${value}" } }`;
const OWN = [
  'ADMIN_TOKEN',
  'DATABASE_DIRECT_URL',
  'DATABASE_URL',
  'REDIS_URL',
  'ENCRYPTION_KEY',
  'OIDC_CLIENT_SECRET',
  'PGPASSWORD',
  'AWS_SECRET_ACCESS_KEY',
  'NODE_OPTIONS',
];

describe('variables of an operator’s file', () => {
  it.each(OWN)('do not name %s, which is the gateway’s own', (name) => {
    const lines = alphaProblems('', HEADER(`Bearer \${${name}}`), { [name]: 'hunter2' });
    expect(lines).toEqual([
      `operators/alpha.yaml: wallet.dialect.headers.x-key: \${${name}} is the gateway's own: take one of the operator's`,
    ]);
  });

  it('do not even tell whether such a variable is set', () => {
    expect(alphaProblems('', HEADER('${ADMIN_TOKEN}'), {})).toEqual(
      alphaProblems('', HEADER('${ADMIN_TOKEN}'), { ADMIN_TOKEN: 'x'.repeat(40) }),
    );
  });

  it('are every variable that the gateway reads at its start', () => {
    const read = variablesRead();
    expect(read.size).toBeGreaterThan(15);
    expect([...read].filter((name) => !isOwnVariable(name))).toEqual([]);
  });

  it.each(['ALPHA_API_SECRET', 'REDISX_SECRET', 'OIDC', 'PG_SECRET', 'HOSTED_KEY'])(
    'may name %s',
    (name) => {
      const { dialect } = loadAlpha('', HEADER(`\${${name}}`), { [name]: 'x' }).wallet;
      expect(dialect.headers).toEqual({ 'x-key': 'x' });
    },
  );

  it.each([
    ['subPartnerId: ${A}', 'subPartnerId'],
    ['settle: { onFailure: "${A}" }', 'settle.onFailure'],
    ['bonuses: { upstream: { cid: "${A}", secrets: [0123456789abcdef] } }', 'bonuses.upstream.cid'],
    ['delivery: { horizonHours: "${A}" }', 'delivery.horizonHours'],
  ])('are not allowed in %s: their content would be shown again', (more, path) => {
    expect(alphaProblems(more, '', { A: 'hunter2' })).toEqual([
      `operators/alpha.yaml: ${path}: \${A} may stand only in secrets, headers, tls and addresses of an operator: write the value itself`,
    ]);
  });

  it.each(['  timeoutMs: ${A}', '  dialect: { paths: { bet: "/${A}" } }', '  adapter: ${A}'])(
    'are not allowed in the wallet’s %s',
    (wallet) => {
      const lines = alphaProblems('', wallet, { A: '/x' });
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/\$\{A\} may stand only in secrets/);
    },
  );

  it('cannot reach a place by a key that looks like it', () => {
    const lines = alphaProblems('"wallet/baseUrl": ${A}', '', { A: 'hunter2' });
    expect(lines.join('\n')).toMatch(/\$\{A\} may stand only in secrets/);
    expect(lines.join('\n')).not.toContain('hunter2');
  });
});

it('what a header of an operator’s wallet holds is shown to nobody, as no secret is (I8)', async () => {
  const file = operatorYaml('alpha', '', HEADER('Bearer hunter2'));
  const view = await viewOf(load({ 'operators/alpha.yaml': file }), 'a key');
  const shown = view.operators.alpha ?? {};
  for (const path of ['wallet.dialect.headers.x-key', 'wallet.secrets', 'api.secrets']) {
    expect(shown[path]).toEqual({ secrets: [expect.any(String)] });
  }
  expect(JSON.stringify(view)).not.toMatch(/hunter2|the-secret-that/);
});
