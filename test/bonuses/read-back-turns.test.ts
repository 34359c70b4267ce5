import { it } from 'vitest';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import { batchBody, objectOf, startBonusGateway } from './support/bonus-gateway.ts';

it('the read-back lets no operator wait for the thousand players of another one’s batch (I7)', {
  timeout: 90_000,
}, async ({ expect, onTestFinished }) => {
  const deployment = await startBonusGateway({ worker: true, service: { bonusTimeoutMs: 2_000 } });
  onTestFinished(() => deployment.close());
  const { alpha, beta, api } = deployment;
  const ofAlpha = await deployment.template(alpha);
  const ofBeta = await deployment.template(beta, { name: 'Of beta' });
  const apply = (operator: SimulatedOperator, template: number, users: readonly string[]) =>
    operator.call('/bonuses/bonus/applyBatch', batchBody(template, users));
  const thousand = Array.from({ length: 1000 }, (_, n) => `player-${n}`);
  api.misbehave('bonus/applyBatch', { kind: 'reset', effect: 'applied' }, { calls: 2 });
  expect((await apply(alpha, ofAlpha, thousand)).status).toBe(504);
  expect((await apply(beta, ofBeta, ['ben'])).status).toBe(504);
  const found = await deployment.untilClosed(() => apply(beta, ofBeta, ['ben']));
  expect(found.status).toBe(200);
  expect(Object.values(objectOf(found.json?.items))).toMatchObject([{ userId: 'ben' }]);
});
