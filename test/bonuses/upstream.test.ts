import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type BonusGateway,
  batchBody,
  objectOf,
  SERVICE_CID,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

const OWN = { cid: 'beta-at-the-service', secrets: ['beta-upstream-secret'] };

let deployment: BonusGateway;
beforeEach(async () => {
  deployment = await startBonusGateway({ partners: [OWN], beta: { bonuses: { upstream: OWN } } });
});
afterEach(() => deployment.close());

it('sends everything of an operator with an account of its own in that account’s name', async () => {
  const console_ = deployment.api.createTemplate(OWN.cid, { name: 'From the console' });
  deployment.api.createTemplate(SERVICE_CID, { name: 'The aggregator’s' });
  const made = await deployment.beta.call('/bonuses/templates/add', templateBody({ name: 'Own' }));
  expect([made.status, made.json?.cid]).toEqual([200, 'beta-key']);
  const listed = await deployment.beta.call('/bonuses/templates', {});
  expect(listed.json?.items).toMatchObject([
    { id: console_.id, cid: 'beta-key' },
    { id: made.json?.id, cid: 'beta-key' },
  ]);
  expect(listed.json?.metadata).toMatchObject({ totalItems: 2 });
  const read = await deployment.beta.call('/bonuses/template', { templateId: console_.id });
  expect(read.status).toBe(200);
  const issued = await deployment.beta.call(
    '/bonuses/bonus/applyBatch',
    batchBody(console_.id, ['ben']),
  );
  const [bonus] = Object.values(objectOf(issued.json?.items)).map(objectOf);
  expect(bonus).toMatchObject({ userId: 'ben', cid: 'beta-key' });
  const revoked = await deployment.beta.call('/bonuses/bonus/revokeBatch', {
    bonusesIds: [bonus?.id],
  });
  expect(Object.values(objectOf(revoked.json?.items))).toMatchObject([{ status: 'revoked' }]);
  for (const { signedBy } of deployment.api.requests) expect(signedBy).toEqual([OWN.cid]);
  for (const { body } of [made, listed, read, issued, revoked]) {
    expect(body).not.toContain(OWN.cid);
    expect(body).not.toContain(SERVICE_CID);
  }
});

it('does not mix up ids of two accounts', async () => {
  const { id } = deployment.api.createTemplate(OWN.cid, { name: 'From the console' });
  expect((await deployment.alpha.call('/bonuses/template', { templateId: id })).status).toBe(404);
  const own = await deployment.template(deployment.alpha);
  expect((await deployment.beta.call('/bonuses/template', { templateId: own })).status).toBe(404);
});

it('asks ownership again where two operators share an account (I8)', async () => {
  await deployment.gateway.reconfigure('alpha', { bonuses: { upstream: OWN } });
  const ofAlpha = await deployment.template(deployment.alpha, { name: 'Of alpha' });
  const bonusId = await deployment.bonus(deployment.alpha, ofAlpha, 'ann');
  expect((await deployment.beta.call('/bonuses/template', { templateId: ofAlpha })).status).toBe(
    404,
  );
  expect((await deployment.beta.call('/bonuses/bonus', { bonusId })).status).toBe(404);
  expect((await deployment.beta.call('/bonuses/templates', {})).json?.items).toEqual([]);
  const apply = await deployment.beta.call(
    '/bonuses/bonus/applyBatch',
    batchBody(ofAlpha, ['ben']),
  );
  expect(apply.status).toBe(404);
});

it('and where an operator’s account is the aggregator’s', async () => {
  const ofAlpha = await deployment.template(deployment.alpha, { name: 'Of alpha' });
  await deployment.gateway.reconfigure('beta', {
    bonuses: { upstream: { cid: SERVICE_CID, secrets: ['the-services-secret'] } },
  });
  expect((await deployment.beta.call('/bonuses/template', { templateId: ofAlpha })).status).toBe(
    404,
  );
});
