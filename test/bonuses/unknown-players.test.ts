import { describe, it, type TestContext } from 'vitest';
import { batchBody, startBonusGateway } from './support/bonus-gateway.ts';

async function openHouse({ onTestFinished }: TestContext) {
  const house = await startBonusGateway({ worker: true, service: { bonusTimeoutMs: 3_000 } });
  onTestFinished(() => house.close());
  const template = await house.template(house.alpha);
  const apply = () => house.alpha.call('/bonuses/bonus/applyBatch', batchBody(template, ['ann']));
  return { house, apply };
}

describe.concurrent('a batch that never arrived, of a player whom the service does not know', () => {
  // What the bonus API says of such a one is not documented; docs/protocol.md has code 2.
  it.for([
    [404, '{"code":2,"message":"user not found"}'],
    [404, '{"error":"no user"}'],
    [400, '{"code":2,"message":"user not found"}'],
  ] as const)(
    'is closed although the service refuses to list him: %d %s',
    async ([status, body], context) => {
      const { expect } = context;
      const { house, apply } = await openHouse(context);
      house.api.misbehave('player/bonuses', { kind: 'status', status, body });
      house.api.misbehave('bonus/applyBatch', { kind: 'hang' }, { calls: 1 });
      expect((await apply()).status).toBe(504);
      const again = await house.untilClosed(apply);
      expect(again.status).toBe(200);
      expect(house.api.bonuses).toHaveLength(1);
    },
  );

  it('stays open while the service refuses for another reason', async (context) => {
    const { expect } = context;
    const { house, apply } = await openHouse(context);
    house.api.misbehave('player/bonuses', { kind: 'status', status: 429 }, { calls: 3 });
    house.api.misbehave('bonus/applyBatch', { kind: 'hang', effect: 'applied' }, { calls: 1 });
    expect((await apply()).status).toBe(504);
    const found = await house.untilClosed(apply);
    expect([found.status, found.json?.errorItems]).toEqual([200, []]);
    expect(house.api.bonuses).toHaveLength(1);
    expect(house.api.requests.filter(({ method }) => method === 'player/bonuses')).toHaveLength(4);
  });
});
