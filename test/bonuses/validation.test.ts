import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type BonusGateway,
  batchBody,
  playerData,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

let deployment: BonusGateway;
let template: number;
beforeAll(async () => {
  deployment = await startBonusGateway();
  template = await deployment.template(deployment.alpha);
});
afterAll(() => deployment.close());

/** Calls as alpha and expects a refusal without a call to the service. */
async function expectRefused(path: string, body: string, field: string): Promise<void> {
  const asked = deployment.api.requests.length;
  const refused = await deployment.gateway.service.call('POST', path, body, {
    signWith: 'alpha-api-secret-that-is-long-enough',
  });
  expect([refused.status, refused.json?.code], refused.body).toEqual([400, 5]);
  expect(refused.json?.message).toMatch(new RegExp(`^${field.replaceAll('.', '\\.')}: `));
  expect(deployment.api.requests.length).toBe(asked);
}

describe('POST /bonuses/templates/add refuses what the service would not take', () => {
  it.each<[field: string, wrong: object]>([
    ['name', { name: 'x'.repeat(256) }],
    ['name', { name: '' }],
    ['name', { name: undefined }],
    ['type', { type: 'cashback' }],
    ['type', { type: undefined }],
    ['enable', { enable: 1 }],
    ['betCount', { betCount: 1001 }],
    ['betCount', { betCount: 0 }],
    ['betCount', { betCount: 1.5 }],
    ['daysToUse', { daysToUse: 202 }],
    ['stage', { stage: 0 }],
    ['stage', { stage: 4 }],
    ['stage', { stage: '1' }],
    ['fromTime', { fromTime: 'now' }],
    ['toTime', { fromTime: 200, toTime: 199 }],
    ['betAmount', { betAmount: '5' }],
    ['betAmount', { betAmount: -1 }],
    ['betAmount', { betAmount: null }],
    ['maxWin', { maxWin: '4' }],
    ['minOdd', { minOdd: '1.01' }],
    ['maxOdd', { maxOdd: [] }],
    ['minSelection', { minSelection: 1.5 }],
    ['currency', { currency: 'GBP' }],
    ['currency', { currency: 7 }],
    ['maxWinCurrency', { maxWinCurrency: 'D' }],
    ['disciplines', { disciplines: 'csgo' }],
    ['disciplines.1', { disciplines: ['csgo', 7] }],
    ['availableCountries.0', { availableCountries: ['DEU'] }],
    ['availableTournaments', { availableTournaments: {} }],
  ])('%s: %j', async (field, wrong) => {
    const body = JSON.stringify({ cid: 'alpha-key', ...templateBody({ name: 'Wrong', ...wrong }) });
    await expectRefused('/bonuses/templates/add', body, field);
  });

  it.each(['betAmount', 'maxWin', 'minOdd', 'maxOdd'])(
    'a negative %s that a double makes zero (I9)',
    async (field) => {
      const body = JSON.stringify({ cid: 'alpha-key', ...templateBody() });
      const negative = body.replace(new RegExp(`"${field}":\\d+`), `"${field}":-1e-400`);
      await expectRefused('/bonuses/templates/add', negative, field);
    },
  );

  it('an amount that no double can hold', async () => {
    const body = JSON.stringify({ cid: 'alpha-key', ...templateBody() });
    const huge = body.replace('"betAmount":5', '"betAmount":1e999');
    await expectRefused('/bonuses/templates/add', huge, 'betAmount');
  });

  it.each(['id', 'templateId', 'template_id', 'userIds', 'CID', 'partnerId', '__proto__'])(
    'the member %s, which could reach for what is another’s',
    async (name) => {
      const body = JSON.stringify({ cid: 'alpha-key', ...templateBody() });
      const harmful = body.replace(/\}$/, `,"${name}":1}`);
      await expectRefused('/bonuses/templates/add', harmful, name);
    },
  );

  it('takes the limits themselves', async () => {
    const made = await deployment.alpha.call(
      '/bonuses/templates/add',
      templateBody({
        name: 'x'.repeat(255),
        betCount: 1000,
        daysToUse: 201,
        stage: 3,
        currency: 'EUR',
        availableCountries: ['DE', 'FR'],
        availableTournaments: null,
      }),
    );
    expect([made.status, made.body.length > 0]).toEqual([200, true]);
  });
});

describe('POST /bonuses/bonus/applyBatch refuses', () => {
  it.each<[field: string, wrong: object]>([
    ['templateId', { templateId: '1' }],
    ['templateId', { templateId: -1 }],
    ['templateId', { templateId: 2 ** 53 }],
    ['playersData', { playersData: [] }],
    ['playersData', { playersData: {} }],
    ['playersData', { playersData: Array.from({ length: 1001 }, (_, n) => playerData(`p${n}`)) }],
    ['playersData.1.userId', { playersData: [playerData('ann'), playerData('ann')] }],
    ['playersData.0.userId', { playersData: [playerData('not a name')] }],
    ['playersData.0.userId', { playersData: [playerData('x'.repeat(65))] }],
    ['playersData.0.currency', { playersData: [playerData('ann', { currency: 'GBP' })] }],
    ['playersData.0.betAmount', { playersData: [playerData('ann', { betAmount: '5' })] }],
    ['playersData.0.betCount', { playersData: [playerData('ann', { betCount: 1001 })] }],
    ['playersData.0.forceActivated', { playersData: [playerData('ann', { forceActivated: 1 })] }],
    ['playersData.0.templateId', { playersData: [playerData('ann', { templateId: 1 })] }],
    ['userIds', { userIds: ['x'] }],
  ])('%s', async (field, wrong) => {
    const body = { cid: 'alpha-key', ...batchBody(template, ['ann']), ...wrong };
    await expectRefused('/bonuses/bonus/applyBatch', JSON.stringify(body), field);
  });

  it('a negative amount that a double makes zero (I9)', async () => {
    const body = JSON.stringify({ cid: 'alpha-key', ...batchBody(template, ['ann']) });
    const negative = body.replace('"betAmount":5', '"betAmount":-1e-400');
    await expectRefused('/bonuses/bonus/applyBatch', negative, 'playersData.0.betAmount');
  });
});

it.each<[path: string, field: string, fields: object]>([
  ['template', 'templateId', {}],
  ['template', 'templateId', { templateId: 1.5 }],
  ['bonus', 'bonusId', { bonusId: null }],
  ['player/bonuses', 'userId', {}],
  ['player/bonuses', 'userId', { userId: 'a b' }],
  ['player/bonuses', 'page', { userId: 'ann', page: 0 }],
  ['bonus/revokeBatch', 'bonusesIds', {}],
  ['bonus/revokeBatch', 'bonusesIds', { bonusesIds: [] }],
  ['bonus/revokeBatch', 'bonusesIds.1', { bonusesIds: [1, '2'] }],
  ['bonus/revokeBatch', 'bonusesIds', { bonusesIds: Array.from({ length: 1001 }, (_, n) => n) }],
])('POST /bonuses/%s refuses %s: %#', async (path, field, fields) => {
  const body = JSON.stringify({ cid: 'alpha-key', ...fields });
  await expectRefused(`/bonuses/${path}`, body, field);
});
