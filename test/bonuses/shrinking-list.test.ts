import { it } from 'vitest';
import { SERVICE_CID, startBonusGateway, templateBody } from './support/bonus-gateway.ts';

it('the read-back begins again where the page that it came to is not there any more', {
  timeout: 60_000,
}, async ({ expect, onTestFinished }) => {
  const deployment = await startBonusGateway({ worker: true, service: { bonusTimeoutMs: 2_000 } });
  onTestFinished(() => deployment.close());
  const { alpha, api } = deployment;
  const create = () => alpha.call('/bonuses/templates/add', templateBody({ name: 'Lost' }));
  api.misbehave('templates/add', { kind: 'reset', effect: 'applied' }, { calls: 1 });
  expect((await create()).status).toBe(504);
  // There were two pages when the first was read; now there is one.
  let isFirst = true;
  const shrinking = (right: string) => {
    if (right.includes('"currentPage":1')) {
      const said = isFirst ? right.replace('"totalPages":1', '"totalPages":2') : right;
      isFirst = false;
      return said;
    }
    return '{"code":5,"message":"page: there is none"}';
  };
  api.misbehave('templates', { kind: 'rewrite', body: shrinking });
  const found = await deployment.untilClosed(create);
  const made = [...api.templates.values()].filter(({ name }) => name === 'Lost');
  expect(made).toMatchObject([{ id: found.json?.id, cid: SERVICE_CID }]);
});
