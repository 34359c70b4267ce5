import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BonusGateway,
  batchBody,
  objectOf,
  SERVICE_CID,
  startBonusGateway,
} from './support/bonus-gateway.ts';

let deployment: BonusGateway;
beforeAll(async () => {
  // Silence is long enough for any other call on a busy machine.
  deployment = await startBonusGateway({ worker: true, service: { bonusTimeoutMs: 4_000 } });
});
afterAll(() => deployment.close());

/** Each test has a template and players of its own. */
async function begin() {
  const template = await deployment.template(deployment.alpha, { name: randomUUID() });
  const apply = (users: readonly string[], templateId = template) =>
    deployment.alpha.call('/bonuses/bonus/applyBatch', batchBody(templateId, users));
  const issued = (templateId = template) =>
    deployment.api.bonuses.filter((bonus) => bonus.template.id === templateId);
  return { template, apply, issued };
}

describe('a batch that the service has carried out without an answer', () => {
  it.for([
    ['falls silent', { kind: 'hang', effect: 'applied' }, 504],
    ['answers half a body', { kind: 'brokenJson' }, 502],
    [
      'answers 400 with code 100, its system error',
      { kind: 'status', status: 400, body: '{"code":100,"message":"no"}', effect: 'applied' },
      502,
    ],
  ] as const)('is closed by looking at its players when it %s', async ([, how, status]) => {
    const { template, apply, issued } = await begin();
    deployment.api.misbehave('bonus/applyBatch', how, { calls: 1 });
    const first = await apply(['ann', 'ben']);
    expect([first.status, first.json?.code]).toEqual([status, 100]);
    expect(first.json?.message).toContain('still open');
    // Calls about the same players wait; others do not.
    expect((await apply(['ann', 'carl'])).status).toBe(409);
    expect((await apply(['dora'])).status).toBe(200);

    await deployment.ageOpen();
    const found = await deployment.untilClosed(() => apply(['ann', 'ben']));
    expect(found.status).toBe(200);
    const bonuses = Object.values(objectOf(found.json?.items));
    expect(bonuses).toMatchObject([
      { userId: 'ann', templateId: template, cid: 'alpha-key' },
      { userId: 'ben' },
    ]);
    expect(found.json?.errorItems).toEqual([]);
    expect(found.body).not.toContain(SERVICE_CID);
    expect(issued()).toHaveLength(3);
    const again = await apply(['ann', 'ben']);
    expect(again.body).toBe(found.body);
    const [bonus] = bonuses;
    const bonusId = objectOf(bonus).id;
    expect((await deployment.alpha.call('/bonuses/bonus', { bonusId })).status).toBe(200);
    expect((await deployment.beta.call('/bonuses/bonus', { bonusId })).status).toBe(404);
  });

  it('is found again when only our own commit was lost (I3)', async () => {
    const { template, apply } = await begin();
    const first = await apply(['ann']);
    // The state after a process was killed between the service's answer and its commit.
    const ofIt = `WHERE template_id = ${template}`;
    await deployment.sql(`UPDATE bonus_intents SET state = 'open' ${ofIt} AND kind = 'apply'`);
    await deployment.sql(`UPDATE bonus_grants SET state = 'open' ${ofIt}`);
    await deployment.sql(`DELETE FROM bonuses ${ofIt}`);
    await deployment.ageOpen();
    const found = await deployment.untilClosed(() => apply(['ann']));
    expect([found.status, found.body]).toEqual([200, first.body]);
    expect(await deployment.sql(`SELECT operator_id FROM bonuses ${ofIt}`)).toEqual([
      { operator_id: 'alpha' },
    ]);
  });

  it('is found on any page of a player with hundreds of bonuses', async () => {
    const { apply, issued } = await begin();
    await apply(['fay']);
    const [player] = issued();
    for (let n = 0; n < 220; n += 1) {
      const { id } = deployment.api.createTemplate(SERVICE_CID, { name: `Old ${n}` });
      deployment.api.issueBonus(id, { userId: player?.userId ?? '' });
    }
    const last = await deployment.template(deployment.alpha, { name: 'The last' });
    deployment.api.misbehave(
      'bonus/applyBatch',
      { kind: 'reset', effect: 'applied' },
      { calls: 1 },
    );
    await apply(['fay'], last);
    await deployment.ageOpen();
    const found = await deployment.untilClosed(() => apply(['fay'], last));
    expect(Object.values(objectOf(found.json?.items))).toMatchObject([{ templateId: last }]);
  });
});

it('lets a batch that never arrived be repeated, when its players were looked at twice', async () => {
  const { template, apply, issued } = await begin();
  deployment.api.misbehave('bonus/applyBatch', { kind: 'reset' }, { calls: 1 });
  expect((await apply(['ann'])).status).toBe(504);
  await deployment.ageOpen();
  const again = await deployment.untilClosed(() => apply(['ann']));
  expect(again.status).toBe(200);
  expect(issued()).toHaveLength(1);
  const looks = await deployment.sql(
    `SELECT state, looks FROM bonus_grants WHERE state = 'absent' AND template_id = ${template}`,
  );
  expect(looks).toEqual([{ state: 'absent', looks: 1 }]);
});

it('issues once when a batch called absent arrives after all and is repeated', async () => {
  const { template, apply, issued } = await begin();
  deployment.api.misbehave('bonus/applyBatch', { kind: 'hang', effect: 'later' }, { calls: 1 });
  await apply(['ann']);
  await deployment.ageOpen();
  const absent = () =>
    deployment.sql(
      `SELECT 1 FROM bonus_grants WHERE state = 'absent' AND template_id = ${template}`,
    );
  await expect.poll(absent).toHaveLength(1);
  expect(deployment.api.applyLate()).toBe(1);
  const again = await deployment.untilClosed(() => apply(['ann']));
  expect(again.status).toBe(200);
  expect(again.json?.errorItems).toMatchObject([{ userId: 'ann', code: 34 }]);
  expect(issued()).toHaveLength(1);
});

it('is found where the service carries it out while the last look is under way (I5)', async () => {
  const { apply, issued } = await begin();
  const { api, sql } = deployment;
  await apply(['eve']);
  const [player] = issued();
  for (let n = 0; n < 100; n += 1) {
    const { id } = api.createTemplate(SERVICE_CID, { name: `Old ${n}` });
    api.issueBonus(id, { userId: player?.userId ?? '' });
  }
  const last = await deployment.template(deployment.alpha, { name: 'The last' });
  const late = () => api.bonuses.find(({ template }) => template.id === last);
  /** The newest bonus comes first, on a page that the look has passed by. */
  let isPassed = false;
  const body = (right: string) => {
    const { items, metadata } = objectOf(JSON.parse(right));
    const others = Object.values(objectOf(items)).filter(
      (item) => objectOf(item).id !== late()?.id,
    );
    const isFirst = objectOf(metadata).currentPage === 1;
    const { id, userId } = late() ?? {};
    const newest = isFirst && isPassed && id ? [{ id, templateId: last, userId }] : [];
    isPassed = late() !== undefined;
    return JSON.stringify({ items: [...newest, ...others], metadata });
  };
  api.misbehave('player/bonuses', { kind: 'rewrite', body });
  api.misbehave('bonus/applyBatch', { kind: 'hang', effect: 'later' }, { calls: 1 });
  expect((await apply(['eve'], last)).status).toBe(504);
  const age = (by: string) =>
    sql(`UPDATE bonus_grants SET created_at = now() - ${by} WHERE state = 'open'`);
  // Young enough for a look that does not decide, however long this machine takes.
  await age("interval '-1 hour'");
  await sql("UPDATE bonus_grants SET look_at = clock_timestamp() WHERE state = 'open'");
  const lookedOnce = () =>
    sql("SELECT 1 FROM bonus_grants WHERE state = 'open' AND looks > 0 AND page = 1");
  await expect.poll(lookedOnce).toHaveLength(1);
  const page = api.hold('player/bonuses', { point: 'after' });
  await page.arrived;
  api.applyLate();
  await age("interval '1 minute'");
  page.release();
  const found = await deployment.untilClosed(() => apply(['eve'], last));
  expect(Object.values(objectOf(found.json?.items))).toMatchObject([{ templateId: last }]);
});
