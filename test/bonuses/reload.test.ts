import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type BonusGateway,
  batchBody,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

const OWN = { cid: 'beta-at-the-service', secrets: ['beta-upstream-secret'] };

let deployment: BonusGateway;
beforeEach(async () => {
  deployment = await startBonusGateway({
    worker: true,
    partners: [OWN],
    service: { bonusTimeoutMs: 2_000 },
    beta: { bonuses: { upstream: OWN } },
  });
});
afterEach(() => deployment.close());

const settings = (bonuses: object) => deployment.gateway.reconfigure('beta', { bonuses });
const create = (name: string) =>
  deployment.beta.call('/bonuses/templates/add', templateBody({ name }));
const openIntents = () => deployment.sql("SELECT 1 FROM bonus_intents WHERE state = 'open'");

describe('a reload while a call is under way', () => {
  it('ends it in the account in which it began, and the next begins in the new one', async () => {
    const gate = deployment.api.hold('templates/add', { point: 'after' });
    const under = create('Under way');
    await gate.arrived;
    await settings({ upstream: { cid: 'aggregator-key', secrets: ['the-services-secret'] } });
    gate.release();
    const made = await under;
    expect([made.status, made.json?.cid]).toEqual([200, 'beta-key']);
    const added = deployment.api.requests.filter(({ method }) => method === 'templates/add');
    expect(added.map(({ signedBy }) => signedBy)).toEqual([[OWN.cid]]);
    // An id of the other account does not exist here, although the operator is the same.
    const read = await deployment.beta.call('/bonuses/template', { templateId: made.json?.id });
    expect(read.status).toBe(404);
    const anew = await create('Under way');
    expect([anew.status, deployment.api.requests.at(-1)?.signedBy]).toEqual([
      200,
      ['aggregator-key'],
    ]);
    await settings({ upstream: OWN });
    const back = await create('Under way');
    expect(back.body).toBe(made.body);
  });

  it('finishes it where the bonus API is switched off meanwhile, and refuses the next', async () => {
    const template = await deployment.template(deployment.beta);
    const gate = deployment.api.hold('bonus/applyBatch');
    const under = deployment.beta.call('/bonuses/bonus/applyBatch', batchBody(template, ['ben']));
    await gate.arrived;
    await settings({ enabled: false });
    gate.release();
    expect((await under).status).toBe(200);
    expect((await create('No more')).status).toBe(403);
  });

  it('leaves open what fell silent in an account that is gone, and closes it when it is back', async () => {
    deployment.api.misbehave('templates/add', { kind: 'hang', effect: 'applied' }, { calls: 1 });
    const silent = create('Fell silent');
    await deployment.api.waitFor(({ templates }) => templates.size === 1);
    await settings({ upstream: { cid: 'another', secrets: ['another-secret-of-beta'] } });
    expect((await silent).status).toBe(504);
    // Walks of this account continue without it.
    await expect
      .poll(() => deployment.gateway.metric('gateway_bonus_open_intents', { operator: 'beta' }), {
        timeout: 20_000,
      })
      .toBe(1);
    expect(await openIntents()).toHaveLength(1);
    await settings({ upstream: OWN });
    const found = await deployment.untilClosed(() => create('Fell silent'));
    expect([found.status, found.json?.cid]).toEqual([200, 'beta-key']);
    expect(deployment.api.templates.size).toBe(1);
    expect(await openIntents()).toEqual([]);
  });

  it('closes open calls of the aggregator’s account even after the last operator has left it', async () => {
    const { alpha, api, gateway } = deployment;
    api.misbehave('templates/add', { kind: 'hang', effect: 'applied' }, { calls: 1 });
    const silent = alpha.call('/bonuses/templates/add', templateBody({ name: 'Fell silent' }));
    await api.waitFor(({ templates }) => templates.size === 1);
    await gateway.reconfigure('alpha', { bonuses: { upstream: OWN } });
    expect((await silent).status).toBe(504);
    await expect.poll(openIntents, { timeout: 20_000 }).toEqual([]);
    expect(await deployment.sql('SELECT operator_id, origin FROM bonus_templates')).toEqual([
      { operator_id: 'alpha', origin: 'created' },
    ]);
  });
});
