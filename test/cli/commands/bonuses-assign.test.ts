import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE_CID } from '../../bonuses/support/bonus-gateway.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { onServer } from '../../support/server.ts';
import { wagergate } from '../support/command-line.ts';

const OWN = { cid: 'gamma-at-the-service', secrets: ['gamma-upstream-secret'] };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    operators: { alpha: {}, beta: {}, gamma: { bonuses: { upstream: OWN } } },
  });
});
afterAll(() => gateway.close());

const assign = (...args: readonly string[]) =>
  wagergate(['bonuses', 'assign', ...args], {
    env: {
      DATABASE_URL: gateway.databaseUrl,
      GATEWAY_CONFIG: gateway.configFolder,
      SERVICE_SECRET: 'x',
    },
  });

async function owners(): Promise<Readonly<Record<string, string>>> {
  return await onServer(gateway.databaseUrl, async (client) => {
    const { rows } = await client.query<{ template_id: string; operator_id: string }>(
      'SELECT template_id, operator_id FROM bonus_templates WHERE upstream_cid = $1',
      [SERVICE_CID],
    );
    return Object.fromEntries(rows.map((row) => [row.template_id, row.operator_id]));
  });
}

describe('wagergate bonuses assign', () => {
  it('assigns templates to an operator, and says which were already assigned', async () => {
    const first = await assign('--operator', 'alpha', '--template', '57');
    expect(first).toEqual({ code: 0, stdout: 'template 57 now belongs to alpha\n', stderr: '' });
    const second = await assign('--operator', 'alpha', '--template', '57', '58');
    expect(second.code).toBe(0);
    expect(second.stdout).toBe(
      'template 58 now belongs to alpha\ntemplate 57 already belonged to alpha\n',
    );
    expect(await owners()).toEqual({ 57: 'alpha', 58: 'alpha' });
  });

  it('assigns nothing at all when one of them is another operator’s', async () => {
    const refused = await assign('--operator', 'beta', '--template', '59', '57');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('another operator owns template 57 (alpha)');
    expect(await owners()).not.toHaveProperty('59');
  });

  it.each(['x', '-1', '1.5', '007', ''])('takes no %j for a template', async (id) => {
    const refused = await assign('--operator', 'alpha', `--template=${id}`);
    expect(refused.code).toBe(2);
  });

  it('knows no operator that the configuration does not have', async () => {
    const refused = await assign('--operator', 'nobody', '--template', '57');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('no operator nobody');
  });

  it('has nothing to assign where an operator has an account of its own', async () => {
    const refused = await assign('--operator', 'gamma', '--template', '57');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('partner account of its own');
  });
});
