import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import { wagergate } from '../cli/support/command-line.ts';
import {
  type BonusGateway,
  type BonusGatewayOptions,
  createTemplate,
  SERVICE_CID,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

/** How long the service may stay silent: long enough for any other call on a busy machine. */
const TIMEOUT_MS = 4_000;

async function startDeployment(options: BonusGatewayOptions = {}): Promise<BonusGateway> {
  return startBonusGateway({ worker: true, service: { bonusTimeoutMs: TIMEOUT_MS }, ...options });
}

/** Of a test that needs one of its own. */
async function ownDeployment(options: BonusGatewayOptions = {}): Promise<BonusGateway> {
  const own = await startDeployment(options);
  onTestFinished(() => own.close());
  return own;
}

let deployment: BonusGateway;
beforeAll(async () => {
  deployment = await startDeployment();
});
afterAll(() => deployment.close());

const create = (operator: SimulatedOperator, name: string) => createTemplate(operator, { name });
const madeWith = (name: string, { api } = deployment) =>
  [...api.templates.values()].filter((template) => template.name === name);
const openIntents = (operator: string) =>
  deployment.gateway.metric('gateway_bonus_open_intents', { operator, kind: 'create' });

describe('a create that the service has carried out without an answer', () => {
  it.for([
    ['falls silent', { kind: 'hang', effect: 'applied' }, 504],
    ['answers half a body', { kind: 'brokenJson' }, 502],
  ] as const)(
    'is found again when it %s, and is the operator’s alone',
    async ([what, how, status]) => {
      const name = `It ${what}`;
      deployment.api.misbehave('templates/add', how, { calls: 1 });
      const first = await create(deployment.alpha, name);
      expect([first.status, first.json?.code]).toEqual([status, 100]);
      expect(first.json?.message).toContain('still open');
      const early = await create(deployment.alpha, name);
      expect([early.status, early.json?.code]).toEqual([409, 8]);

      await deployment.ageOpen();
      const found = await deployment.untilClosed(() => create(deployment.alpha, name));
      const [made] = madeWith(name);
      expect(madeWith(name)).toHaveLength(1);
      expect([found.status, found.json?.id, found.json?.cid]).toEqual([200, made?.id, 'alpha-key']);
      const templateId = made?.id;
      expect((await deployment.alpha.call('/bonuses/template', { templateId })).status).toBe(200);
      expect((await deployment.beta.call('/bonuses/template', { templateId })).status).toBe(404);
    },
  );

  it('is found again when only our own commit was lost (I3)', async () => {
    const first = await create(deployment.alpha, 'Uncommitted');
    // The state after a process was killed between the service's answer and its commit.
    const ofIt = `WHERE template_id = ${first.json?.id}`;
    await deployment.sql(`UPDATE bonus_intents SET state = 'open', template_id = NULL ${ofIt}`);
    await deployment.sql(`DELETE FROM bonus_templates ${ofIt}`);
    await deployment.sql(`DELETE FROM bonus_template_copies ${ofIt}`);
    await deployment.ageOpen();
    const found = await deployment.untilClosed(() => create(deployment.alpha, 'Uncommitted'));
    expect([found.status, found.body]).toEqual([200, first.body]);
    expect(madeWith('Uncommitted')).toHaveLength(1);
  });

  it('is found among hundreds, whichever end the service lists first', async () => {
    const own = await ownDeployment({ templateOrder: 'newestFirst' });
    for (let n = 0; n < 250; n += 1) own.api.createTemplate(SERVICE_CID, { name: `Old ${n}` });
    own.api.misbehave('templates/add', { kind: 'reset', effect: 'applied' }, { calls: 1 });
    await create(own.alpha, 'Among');
    await own.ageOpen();
    const found = await own.untilClosed(() => create(own.alpha, 'Among'));
    expect([found.status, found.json?.id]).toEqual([200, madeWith('Among', own)[0]?.id]);
  });

  it('is found although somebody has switched it off in the service’s console meanwhile (I5)', async () => {
    deployment.api.misbehave('templates/add', { kind: 'reset', effect: 'applied' }, { calls: 1 });
    await create(deployment.alpha, 'Off');
    const [made] = madeWith('Off');
    deployment.api.setEnabled(made?.id ?? 0, false);
    await deployment.ageOpen();
    const found = await deployment.untilClosed(() => create(deployment.alpha, 'Off'));
    expect([found.json?.id, found.json?.isEnable]).toEqual([made?.id, false]);
    expect(madeWith('Off')).toHaveLength(1);
  });
});

it('lets a create that never arrived be repeated, after two whole looks', async () => {
  deployment.api.misbehave('templates/add', { kind: 'reset' }, { calls: 1 });
  const first = await create(deployment.alpha, 'Never');
  expect(first.status).toBe(504);
  await deployment.ageOpen();
  const again = await deployment.untilClosed(() => create(deployment.alpha, 'Never'));
  expect(again.status).toBe(200);
  expect(madeWith('Never')).toHaveLength(1);
  expect(
    await deployment.sql("SELECT reason, passes FROM bonus_intents WHERE state = 'failed'"),
  ).toEqual([{ reason: 'never arrived', passes: 1 }]);
});

it('finds what the service carries out while the last look is under way', async () => {
  const own = await ownDeployment();
  own.api.misbehave('templates/add', { kind: 'hang', effect: 'later' }, { calls: 1 });
  await create(own.alpha, 'Late');
  const page = own.api.hold('templates', { point: 'after' });
  await own.sql("UPDATE bonus_intents SET look_at = clock_timestamp() WHERE state = 'open'");
  await page.arrived;
  // The second whole look, which began before twice the timeout was over, and ends after it.
  await own.sql(
    `UPDATE bonus_intents SET passes = 1,
            created_at = (SELECT started_at FROM bonus_walks) - make_interval(secs => $1)
      WHERE state = 'open'`,
    [(1.5 * TIMEOUT_MS) / 1000],
  );
  own.api.applyLate();
  const isOver = async () =>
    await own.sql(
      `SELECT 1 FROM bonus_intents
        WHERE state = 'open' AND created_at < now() - make_interval(secs => $1)`,
      [(2 * TIMEOUT_MS) / 1000],
    );
  await expect.poll(isOver).toHaveLength(1);
  page.release();
  const found = await own.untilClosed(() => create(own.alpha, 'Late'));
  expect(madeWith('Late', own).map(({ id }) => id)).toEqual([found.json?.id]);
});

it('does not take a template for it that was there before, however equal', async () => {
  const body = templateBody({ name: 'Twin' });
  const twin = await deployment.alpha.call('/bonuses/templates/add', body);
  await deployment.sql(`DELETE FROM bonus_templates WHERE template_id = ${twin.json?.id}`);
  await deployment.sql(`DELETE FROM bonus_intents WHERE template_id = ${twin.json?.id}`);
  deployment.api.misbehave('templates/add', { kind: 'reset' }, { calls: 1 });
  await create(deployment.alpha, 'Twin');
  await deployment.ageOpen();
  const again = await deployment.untilClosed(() => create(deployment.alpha, 'Twin'));
  expect(again.status).toBe(200);
  expect(again.json?.id).not.toBe(twin.json?.id);
});

describe('equal creates of two operators, both without an answer (I8)', () => {
  it('stay open for a person, are shown by the metric, and are closed by assigning', async () => {
    deployment.api.misbehave('templates/add', { kind: 'reset', effect: 'applied' }, { calls: 2 });
    const silent = await Promise.all([
      create(deployment.alpha, 'Same'),
      create(deployment.beta, 'Same'),
    ]);
    expect(silent.map(({ status }) => status)).toEqual([504, 504]);
    await deployment.ageOpen();
    const [first, second] = madeWith('Same').map(({ id }) => id);

    const ambiguous = () =>
      deployment.sql('SELECT operator_id FROM bonus_intents WHERE ambiguous ORDER BY 1');
    await expect.poll(ambiguous).toEqual([{ operator_id: 'alpha' }, { operator_id: 'beta' }]);
    await expect.poll(() => openIntents('alpha')).toBe(1);
    for (const operator of [deployment.alpha, deployment.beta]) {
      expect((await create(operator, 'Same')).status).toBe(409);
      for (const templateId of [first, second]) {
        expect((await operator.call('/bonuses/template', { templateId })).status).toBe(404);
      }
    }

    // If alpha's was created before beta's call began, only the newer one can be beta's.
    const late = await deployment.sql(
      `SELECT 1 FROM bonus_intents WHERE operator_id = 'beta' AND above_id >= ${first}`,
    );
    const [betas, alphas] = late.length === 0 ? [first, second] : [second, first];
    const assigned = await wagergate(
      ['bonuses', 'assign', '--operator', 'beta', '--template', String(betas)],
      {
        env: {
          DATABASE_URL: deployment.gateway.databaseUrl,
          GATEWAY_CONFIG: deployment.gateway.configFolder,
        },
      },
    );
    expect([assigned.code, assigned.stderr]).toEqual([0, '']);
    // The remaining one can only be alpha's.
    const ofBeta = await deployment.untilClosed(() => create(deployment.beta, 'Same'));
    const ofAlpha = await deployment.untilClosed(() => create(deployment.alpha, 'Same'));
    expect([ofBeta.status, ofBeta.json?.id]).toEqual([200, betas]);
    expect([ofAlpha.status, ofAlpha.json?.id]).toEqual([200, alphas]);
    expect(madeWith('Same')).toHaveLength(2);
  });

  it('are distinguished by what differs', async () => {
    deployment.api.misbehave('templates/add', { kind: 'reset', effect: 'applied' }, { calls: 2 });
    const fields = { name: 'Alike' };
    const bodies = [
      templateBody({ ...fields, betAmount: 5 }),
      templateBody({ ...fields, betAmount: 6 }),
    ] as const;
    await Promise.all([
      deployment.alpha.call('/bonuses/templates/add', bodies[0]),
      deployment.beta.call('/bonuses/templates/add', bodies[1]),
    ]);
    await deployment.ageOpen();
    const ofAlpha = await deployment.untilClosed(() =>
      deployment.alpha.call('/bonuses/templates/add', bodies[0]),
    );
    const ofBeta = await deployment.untilClosed(() =>
      deployment.beta.call('/bonuses/templates/add', bodies[1]),
    );
    expect(ofAlpha.json).toMatchObject({ freebetData: { betAmount: 5 }, cid: 'alpha-key' });
    expect(ofBeta.json).toMatchObject({ freebetData: { betAmount: 6 }, cid: 'beta-key' });
  });

  it('never give one operator what the other’s answered create has made', async () => {
    deployment.api.misbehave('templates/add', { kind: 'reset' }, { calls: 1 });
    await create(deployment.alpha, 'Only one');
    const ofBeta = await create(deployment.beta, 'Only one');
    expect(ofBeta.status).toBe(200);
    await deployment.ageOpen();
    const ofAlpha = await deployment.untilClosed(() => create(deployment.alpha, 'Only one'));
    expect(ofAlpha.status).toBe(200);
    expect(ofAlpha.json?.id).not.toBe(ofBeta.json?.id);
  });
});

it('is read back once by several replicas', async () => {
  const own = await ownDeployment();
  await own.gateway.replica();
  own.api.misbehave('templates/add', { kind: 'reset', effect: 'applied' }, { calls: 1 });
  await create(own.alpha, 'Replicas');
  await own.ageOpen();
  await own.untilClosed(() => create(own.alpha, 'Replicas'));
  expect(madeWith('Replicas', own)).toHaveLength(1);
  const [walks] = await own.sql('SELECT count(*)::int AS count FROM bonus_templates');
  expect(walks).toEqual({ count: 1 });
});
