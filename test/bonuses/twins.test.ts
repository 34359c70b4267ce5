import { describe, it, type TestContext } from 'vitest';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import { wagergate } from '../cli/support/command-line.ts';
import {
  type BonusGateway,
  createTemplate,
  SERVICE_CID,
  startBonusGateway,
} from './support/bonus-gateway.ts';

const OWN = { cid: 'beta-at-the-service', secrets: ['beta-upstream-secret'] };

/** Each case has its own gateway, so that all of them wait for their read-back concurrently. */
async function openDeployment({ onTestFinished }: TestContext): Promise<BonusGateway> {
  const deployment = await startBonusGateway({
    worker: true,
    service: { bonusTimeoutMs: 2_000 },
    partners: [OWN],
    beta: { bonuses: { upstream: OWN } },
  });
  onTestFinished(() => deployment.close());
  return deployment;
}

/** A create without an answer; then somebody makes the same template in the service's console. @returns the ids of both */
async function loseAndMakeByHand(
  { api }: BonusGateway,
  operator: SimulatedOperator,
  cid: string,
): Promise<readonly number[]> {
  api.misbehave('templates/add', { kind: 'hang', effect: 'applied' }, { calls: 1 });
  await createTemplate(operator, { name: 'Twice' });
  const [made] = [...api.templates.values()];
  if (made === undefined) throw new Error('nothing was made');
  const { id, cid: _, ...fields } = made;
  return [id, api.createTemplate(cid, fields).id];
}

describe.concurrent('a lost create whose template is made in the service’s console too', () => {
  it('is closed where a person assigns both templates at once', async (context) => {
    const { expect } = context;
    const deployment = await openDeployment(context);
    const { alpha, gateway, sql, untilClosed } = deployment;
    const ids = await loseAndMakeByHand(deployment, alpha, SERVICE_CID);
    const ambiguous = () => sql('SELECT 1 FROM bonus_intents WHERE ambiguous');
    await expect.poll(ambiguous, { timeout: 20_000 }).toHaveLength(1);
    const assigned = await wagergate(
      ['bonuses', 'assign', '--operator', 'alpha', '--template', ...ids.map(String)],
      { env: { DATABASE_URL: gateway.databaseUrl, GATEWAY_CONFIG: gateway.configFolder } },
    );
    expect([assigned.code, assigned.stderr]).toEqual([0, '']);
    const found = await untilClosed(() => createTemplate(alpha, { name: 'Twice' }));
    expect([found.status, found.json?.id]).toEqual([200, ids[0]]);
  });
});
