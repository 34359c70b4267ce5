import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type BonusGateway,
  batchBody,
  createTemplate,
  objectOf,
  startBonusGateway,
} from './support/bonus-gateway.ts';

/** Tests what docs/operations.md, Disaster recovery, says about bonuses. */

let deployment: BonusGateway;
beforeAll(async () => {
  deployment = await startBonusGateway();
});
afterAll(() => deployment.close());

/** Deletes what calls wrote in the seconds that an asynchronous failover loses. */
async function lose(...tables: readonly string[]): Promise<void> {
  for (const table of ['bonus_intents', 'bonus_grants', 'bonuses', ...tables]) {
    await deployment.sql(`DELETE FROM ${table}`);
  }
}

it('a template whose record is lost belongs to nobody, and the same create makes a second one', async () => {
  const { alpha, api } = deployment;
  const first = await deployment.template(alpha);
  await lose('bonus_templates', 'bonus_template_copies');
  expect((await alpha.call('/bonuses/template', { templateId: first })).status).toBe(404);
  const again = await createTemplate(alpha);
  expect(again.status).toBe(200);
  expect(again.json?.id).not.toBe(first);
  expect(api.templates.size).toBe(2);
});

it('a bonus whose record is lost is still the player’s, and is given once', async () => {
  const { alpha, api } = deployment;
  await alpha.openSession({ operatorUser: 'ann', currency: 'USD', operatorToken: 'ann-s-token-1' });
  const template = await deployment.template(alpha, { name: 'For the known' });
  const bonus = await deployment.bonus(alpha, template, 'ann');
  await lose();
  const again = await alpha.call('/bonuses/bonus/applyBatch', batchBody(template, ['ann']));
  expect(again.json).toMatchObject({ items: {}, errorItems: [{ userId: 'ann' }] });
  const read = await alpha.call('/bonuses/bonus', { bonusId: bonus });
  expect([read.status, read.json?.userId]).toEqual([200, 'ann']);
  expect(api.bonuses).toHaveLength(1);
});

it('a player who is lost is given a second bonus by the same batch', async () => {
  const { alpha, api } = deployment;
  const template = await deployment.template(alpha, { name: 'For the new' });
  const bonus = await deployment.bonus(alpha, template, 'new');
  const given = api.bonuses.length;
  await lose("players WHERE operator_user = 'new'");
  const again = await alpha.call('/bonuses/bonus/applyBatch', batchBody(template, ['new']));
  expect(Object.keys(objectOf(again.json?.items))).not.toEqual([String(bonus)]);
  expect((await alpha.call('/bonuses/bonus', { bonusId: bonus })).status).toBe(404);
  expect(api.bonuses).toHaveLength(given + 1);
});
