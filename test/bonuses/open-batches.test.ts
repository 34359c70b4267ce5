import { describe, it, type TestContext } from 'vitest';
import { batchBody, objectOf, SERVICE_CID, startBonusGateway } from './support/bonus-gateway.ts';

/** How long the service may stay silent; enough for a create while several gateways start. */
const TIMEOUT_MS = 2_000;

/** Each case has its own gateway, so that all of them wait for their read-back concurrently. */
async function openDeployment({ onTestFinished }: TestContext) {
  const deployment = await startBonusGateway({
    worker: true,
    service: { bonusTimeoutMs: TIMEOUT_MS },
  });
  onTestFinished(() => deployment.close());
  const template = await deployment.template(deployment.alpha);
  const apply = (users: readonly string[], templateId = template) =>
    deployment.alpha.call('/bonuses/bonus/applyBatch', batchBody(templateId, users));
  return { deployment, template, apply };
}

describe.concurrent('a batch that the service has carried out without an answer', () => {
  it.for([
    ['falls silent', { kind: 'hang', effect: 'applied' }, 504],
    ['answers half a body', { kind: 'brokenJson' }, 502],
    [
      'answers 400 with code 100, its system error',
      { kind: 'status', status: 400, body: '{"code":100,"message":"no"}', effect: 'applied' },
      502,
    ],
  ] as const)(
    'is closed by looking at its players when it %s',
    async ([, how, status], context) => {
      const { expect } = context;
      const { deployment, template, apply } = await openDeployment(context);
      deployment.api.misbehave('bonus/applyBatch', how, { calls: 1 });
      const first = await apply(['ann', 'ben']);
      expect([first.status, first.json?.code]).toEqual([status, 100]);
      expect(first.json?.message).toContain('still open');
      // Calls about the same players wait; others do not.
      expect((await apply(['ann', 'carl'])).status).toBe(409);
      expect((await apply(['dora'])).status).toBe(200);

      const found = await deployment.untilClosed(() => apply(['ann', 'ben']));
      expect(found.status).toBe(200);
      const bonuses = Object.values(objectOf(found.json?.items));
      expect(bonuses).toMatchObject([
        { userId: 'ann', templateId: template, cid: 'alpha-key' },
        { userId: 'ben' },
      ]);
      expect(found.json?.errorItems).toEqual([]);
      expect(found.body).not.toContain(SERVICE_CID);
      expect(deployment.api.bonuses).toHaveLength(3);
      const again = await apply(['ann', 'ben']);
      expect(again.body).toBe(found.body);
      const [bonus] = bonuses;
      const bonusId = objectOf(bonus).id;
      expect((await deployment.alpha.call('/bonuses/bonus', { bonusId })).status).toBe(200);
      expect((await deployment.beta.call('/bonuses/bonus', { bonusId })).status).toBe(404);
    },
  );

  it('is found again when only our own commit was lost (I3)', async (context) => {
    const { expect } = context;
    const { deployment, apply } = await openDeployment(context);
    const first = await apply(['ann']);
    // The state after a process was killed between the service's answer and its commit.
    await deployment.sql("UPDATE bonus_intents SET state = 'open' WHERE kind = 'apply'");
    await deployment.sql("UPDATE bonus_grants SET state = 'open'");
    await deployment.sql('DELETE FROM bonuses');
    const found = await deployment.untilClosed(() => apply(['ann']));
    expect([found.status, found.body]).toEqual([200, first.body]);
    expect(await deployment.sql('SELECT operator_id FROM bonuses')).toEqual([
      { operator_id: 'alpha' },
    ]);
  });

  it('is found on any page of a player with hundreds of bonuses', async (context) => {
    const { expect } = context;
    const { deployment, apply } = await openDeployment(context);
    await apply(['ann']);
    const [player] = deployment.api.bonuses;
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
    await apply(['ann'], last);
    const found = await deployment.untilClosed(() => apply(['ann'], last));
    expect(Object.values(objectOf(found.json?.items))).toMatchObject([{ templateId: last }]);
  });
});

it.concurrent('lets a batch that never arrived be repeated, when its players were looked at twice', async (context) => {
  const { expect } = context;
  const { deployment, apply } = await openDeployment(context);
  deployment.api.misbehave('bonus/applyBatch', { kind: 'reset' }, { calls: 1 });
  expect((await apply(['ann'])).status).toBe(504);
  const again = await deployment.untilClosed(() => apply(['ann']));
  expect(again.status).toBe(200);
  expect(deployment.api.bonuses).toHaveLength(1);
  const looks = await deployment.sql(
    "SELECT state, looks FROM bonus_grants WHERE state = 'absent'",
  );
  expect(looks).toEqual([{ state: 'absent', looks: 1 }]);
});

it.concurrent('issues once when a batch called absent arrives after all and is repeated', async (context) => {
  const { expect } = context;
  const { deployment, apply } = await openDeployment(context);
  deployment.api.misbehave('bonus/applyBatch', { kind: 'hang', effect: 'later' }, { calls: 1 });
  await apply(['ann']);
  const absent = () => deployment.sql("SELECT 1 FROM bonus_grants WHERE state = 'absent'");
  await expect.poll(absent, { timeout: 20_000 }).toHaveLength(1);
  expect(deployment.api.applyLate()).toBe(1);
  const again = await deployment.untilClosed(() => apply(['ann']));
  expect(again.status).toBe(200);
  expect(again.json?.errorItems).toMatchObject([{ userId: 'ann', code: 34 }]);
  expect(deployment.api.bonuses).toHaveLength(1);
});

it.concurrent('is found where the service carries it out while the last look is under way (I5)', async (context) => {
  const { expect } = context;
  const { deployment, apply } = await openDeployment(context);
  const { api, sql } = deployment;
  await apply(['ann']);
  const [player] = api.bonuses;
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
  expect((await apply(['ann'], last)).status).toBe(504);
  const age = (by: string) =>
    sql(`UPDATE bonus_grants SET created_at = now() - ${by} WHERE state = 'open'`);
  // Young enough for a look that does not decide, however long this machine takes.
  await age("interval '-1 hour'");
  const lookedOnce = () =>
    sql("SELECT 1 FROM bonus_grants WHERE state = 'open' AND looks > 0 AND page = 1");
  await expect.poll(lookedOnce).toHaveLength(1);
  const page = api.hold('player/bonuses', { point: 'after' });
  await page.arrived;
  api.applyLate();
  await age("interval '1 minute'");
  page.release();
  const found = await deployment.untilClosed(() => apply(['ann'], last));
  expect(Object.values(objectOf(found.json?.items))).toMatchObject([{ templateId: last }]);
});
