import { describe, it, type TestContext } from 'vitest';
import { batchBody, startBonusGateway } from './support/bonus-gateway.ts';

async function openDeployment({ onTestFinished }: TestContext) {
  const deployment = await startBonusGateway({ worker: true, service: { bonusTimeoutMs: 3_000 } });
  onTestFinished(() => deployment.close());
  const template = await deployment.template(deployment.alpha);
  const apply = () =>
    deployment.alpha.call('/bonuses/bonus/applyBatch', batchBody(template, ['ann']));
  return { deployment, apply };
}

describe.concurrent('a batch that never arrived, for a player whom the service does not know', () => {
  // The bonus API's answer for such a player is not documented; service protocol has code 2.
  it.for([[404, '{"code":2,"message":"user not found"}']] as const)(
    'is closed although the service refuses to list him: %d %s',
    async ([status, body], context) => {
      const { expect } = context;
      const { deployment, apply } = await openDeployment(context);
      deployment.api.misbehave('player/bonuses', { kind: 'status', status, body });
      deployment.api.misbehave('bonus/applyBatch', { kind: 'reset' }, { calls: 1 });
      expect((await apply()).status).toBe(504);
      const again = await deployment.untilClosed(apply);
      expect(again.status).toBe(200);
      expect(deployment.api.bonuses).toHaveLength(1);
    },
  );

  it('stays open while the service refuses for another reason', async (context) => {
    const { expect } = context;
    const { deployment, apply } = await openDeployment(context);
    deployment.api.misbehave('player/bonuses', { kind: 'status', status: 429 }, { calls: 3 });
    deployment.api.misbehave(
      'bonus/applyBatch',
      { kind: 'reset', effect: 'applied' },
      { calls: 1 },
    );
    expect((await apply()).status).toBe(504);
    const found = await deployment.untilClosed(apply);
    expect([found.status, found.json?.errorItems]).toEqual([200, []]);
    expect(deployment.api.bonuses).toHaveLength(1);
    expect(
      deployment.api.requests.filter(({ method }) => method === 'player/bonuses'),
    ).toHaveLength(4);
  });
});
