import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { BonusMisbehaviour } from '../../tools/simulator/bonus-api/misbehaviour.ts';
import {
  type BonusGateway,
  batchBody,
  objectOf,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

/** Errors that the service sends with HTTP 200: neither a list nor the requested object. */
const status200 = (body: string): BonusMisbehaviour => ({ kind: 'status', status: 200, body });
const SYSTEM_ERROR = status200('{"code":100,"message":"System error"}');
const MISSING = 99_999_999;

describe('a bonus', () => {
  let deployment: BonusGateway;
  let mine: number;
  let foreign: number;
  beforeAll(async () => {
    deployment = await startBonusGateway();
    const { alpha, beta } = deployment;
    mine = await deployment.bonus(alpha, await deployment.template(alpha), 'ann');
    foreign = await deployment.bonus(beta, await deployment.template(beta), 'ann');
  });
  afterAll(() => deployment.close());
  const read = async (bonusId: number, how?: BonusMisbehaviour) => {
    if (how !== undefined) deployment.api.misbehave('bonus', how, { calls: 1 });
    const answer = await deployment.alpha.call('/bonuses/bonus', { bonusId });
    return [answer.status, answer.body];
  };

  it.each(['{"code":32,"message":"Bonus not found"}', ''])(
    'that is missing with HTTP 200 and "%s" looks like a foreign one (I8)',
    async (body) => {
      expect(await read(MISSING, status200(body))).toEqual(await read(foreign));
    },
  );

  it('of the operator’s own is missing only where the service says so', async () => {
    const failed = [502, '{"code":100,"message":"The bonus service failed"}'];
    expect(await read(mine, SYSTEM_ERROR)).toEqual(failed);
    const other = (right: string) => right.replace(/"id":\d+/, `"id":${foreign}`);
    expect(await read(mine, { kind: 'rewrite', body: other })).toEqual(failed);
    const gone = await read(mine, status200('{"code":32,"message":"Bonus not found"}'));
    expect(gone).toEqual(await read(foreign));
  });

  it('is never reported without a template while its batch may be under way', async () => {
    const { alpha, api } = deployment;
    const template = await deployment.template(alpha, { name: 'Told' });
    const missing = status200('{"code":30,"message":"Template not found"}');
    api.misbehave('bonus/applyBatch', missing, { calls: 1 });
    const apply = () => alpha.call('/bonuses/bonus/applyBatch', batchBody(template, ['ann']));
    const first = await apply();
    expect([first.status, first.json?.code]).toEqual([502, 100]);
    expect(first.json?.message).toContain('still open');
    expect((await apply()).status).toBe(409);
  });

  it('template is not created while nobody can say which templates existed before', async () => {
    const { alpha, api } = deployment;
    api.misbehave('templates', SYSTEM_ERROR, { calls: 1 });
    const body = templateBody({ name: 'Blind' });
    const refused = await alpha.call('/bonuses/templates/add', body);
    expect([refused.status, refused.json?.message]).toEqual([502, 'The bonus service failed']);
    expect(api.requests.at(-1)?.method).toBe('templates');
    expect((await alpha.call('/bonuses/templates/add', body)).status).toBe(200);
  });
});

/** A gateway for one test, whose worker reads open calls back. */
async function readBackBy(onTestFinished: TestContext['onTestFinished']) {
  const deployment = await startBonusGateway({ worker: true, service: { bonusTimeoutMs: 2_000 } });
  onTestFinished(() => deployment.close());
  const { alpha, api } = deployment;
  return { deployment, alpha, api };
}

describe.concurrent('pages that the read-back asks for', () => {
  it('are no look at a player: the bonus that was issued is found afterwards', {
    timeout: 60_000,
  }, async ({ expect: expecting, onTestFinished }) => {
    const { deployment, alpha, api } = await readBackBy(onTestFinished);
    const template = await deployment.template(alpha);
    const apply = () => alpha.call('/bonuses/bonus/applyBatch', batchBody(template, ['ann']));
    api.misbehave('bonus/applyBatch', { kind: 'reset', effect: 'applied' }, { calls: 1 });
    expecting((await apply()).status).toBe(504);
    api.misbehave('player/bonuses', SYSTEM_ERROR, { calls: 4 });
    const found = await deployment.untilClosed(apply);
    expecting(Object.values(objectOf(found.json?.items))).toMatchObject([{ userId: 'ann' }]);
    expecting(found.json?.errorItems).toEqual([]);
  });
});
