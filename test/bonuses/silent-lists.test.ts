import { expect, it } from 'vitest';
import {
  batchBody,
  createTemplate,
  SERVICE_CID,
  startBonusGateway,
} from './support/bonus-gateway.ts';

const PLAYERS = Array.from({ length: 12 }, (_, at) => `player-${at}`);

it('a lost batch is found in its own pace where lists of templates get no answer (I7)', {
  timeout: 90_000,
}, async ({ onTestFinished }) => {
  const own = { cid: 'alpha-own', secrets: ['the-secret-of-alpha-alone'] };
  const deployment = await startBonusGateway({
    worker: true,
    service: { bonusTimeoutMs: 2_000 },
    alpha: { bonuses: { upstream: own } },
    partners: [own],
  });
  onTestFinished(() => deployment.close());
  const { alpha, beta, api } = deployment;
  const template = await deployment.template(beta);
  // Both accounts have something to look for.
  for (const operator of [alpha, beta]) {
    api.misbehave('templates/add', { kind: 'reset' }, { calls: 1 });
    expect((await createTemplate(operator, { name: 'Lost' })).status).toBe(504);
  }
  const lists = api.hold('templates');
  await lists.arrived;
  api.misbehave('bonus/applyBatch', { kind: 'reset', effect: 'applied' }, { calls: 1 });
  const apply = () => beta.call('/bonuses/bonus/applyBatch', batchBody(template, PLAYERS));
  expect((await apply()).status).toBe(504);
  await api.waitFor(({ requests }) => requests.some(isLook));
  const before = lists.held;
  const found = await deployment.untilClosed(apply);
  expect(Object.keys(found.json?.items ?? {})).toHaveLength(PLAYERS.length);
  // Each list is held for as long as the service may stay silent: it was not one for each player.
  expect(lists.held - before).toBeLessThan(PLAYERS.length / 2);
  lists.release();
});

const isLook = ({ method, body }: { readonly method: string | undefined; readonly body: string }) =>
  method === 'player/bonuses' && body.includes(SERVICE_CID);
