import { describe, expect, it } from 'vitest';
import samples from '../../../fixtures/samples.json' with { type: 'json' };
import { CID, DAY, grant, NOW, OTHER_CID, useBonusApi } from './support/bonus-api.ts';

const bench = useBonusApi();

const template = (fields: object = {}) =>
  bench().api.createTemplate(CID, { daysToUse: 2, toTime: NOW + 10 * DAY, ...fields });
const apply = (templateId: number, ...playersData: object[]) =>
  bench().call('bonus/applyBatch', { templateId, playersData });
const revoke = (...bonusesIds: number[]) => bench().call('bonus/revokeBatch', { bonusesIds });
const bonus = (bonusId: number) => bench().call('bonus', { bonusId });

/** Issues one. @returns its id */
async function issued(templateId: number, userId: string, more: object = {}): Promise<number> {
  const { json } = await apply(templateId, grant(userId, more));
  const [id] = Object.keys(json?.items ?? {});
  return Number(id);
}

describe('issuing bonuses', () => {
  it('answers by bonus id, as the published samples print it', async () => {
    const { id } = template();
    const { status, json } = await apply(id, grant('6'), grant('7', { forceActivated: false }));
    expect(status).toBe(200);
    expect(json).toMatchObject({
      items: {
        90001: {
          templateId: id,
          userId: '6',
          cid: CID,
          status: 'active',
          activationDate: NOW,
          endingDate: NOW + 2 * DAY,
          freebetData: { betAmount: 5, betCount: 2, availableBetCount: 2, currency: 'USD' },
        },
        90002: { userId: '7', status: 'new', activationDate: null, endingDate: null },
      },
      errorItems: [],
    });
    const printed = samples.applyBatch.response.items['1243'];
    const [item] = Object.values(json?.items ?? {});
    expect(Object.keys(item).sort()).toEqual(Object.keys(printed).sort());
    expect(Object.keys(item.freebetData).sort()).toEqual(Object.keys(printed.freebetData).sort());
  });

  it('gives a player one bonus of a template, ever', async () => {
    const { id } = template();
    const first = await issued(id, '6');
    await revoke(first);
    const { json } = await apply(id, grant('6'), grant('7'), grant('7'));
    const message = 'Bonus is already activated for this user';
    expect(json?.errorItems).toEqual([
      { userId: '6', code: 34, message },
      { userId: '7', code: 34, message },
    ]);
    expect(bench().api.bonuses.map(({ userId }) => userId)).toEqual(['6', '7']);
    expect((await apply(template().id, grant('6'))).json?.errorItems).toEqual([]);
  });

  it('keeps the exact text of the amount (I9)', async () => {
    const { client } = bench();
    const player = '{"userId":"6","currency":"USD","betAmount":12.10,"betCount":1}';
    const body = `{"cid":"${CID}","templateId":${template().id},"playersData":[${player}]}`;
    const { body: answer } = await client.call('POST', '/bonuses/bonus/applyBatch', body);
    expect(answer).toContain('"betAmount":12.10');
    expect(answer).toContain('"status":"new"');
  });

  it.each([
    ['past its end', { fromTime: NOW - DAY, toTime: NOW - 1 }, 31],
    ['disabled', { enable: false }, 33],
    ['not begun', { fromTime: NOW + 1 }, 33],
  ])('refuses a template that is %s', async (_what, fields, code) => {
    const { status, json } = await apply(template(fields).id, grant('6'));
    expect({ status, code: json?.code }).toEqual({ status: 400, code });
    expect(bench().api.bonuses).toEqual([]);
  });

  it('issues until the last second', async () => {
    expect((await apply(template({ toTime: NOW }).id, grant('6'))).status).toBe(200);
  });

  it('issues again when a template is enabled', async () => {
    const { id } = template({ enable: false });
    bench().api.setEnabled(id, true);
    expect((await apply(id, grant('6'))).status).toBe(200);
  });

  it('answers for a foreign template as for a missing one', async () => {
    const foreign = bench().api.createTemplate(OTHER_CID);
    const bodies = [await apply(foreign.id, grant('6')), await apply(9999, grant('6'))];
    const missing = '{"code":30,"message":"Template not found"}';
    expect(bodies.map(({ status, body }) => [status, body])).toEqual([
      [404, missing],
      [404, missing],
    ]);
  });

  it.each([
    [[], 'playersData must have 1 to 1000 players'],
    [{}, 'playersData must be a list'],
    [['6'], 'playersData.0 must be an object'],
    [[grant('6'), grant('')], 'playersData.1.userId must have 1 to 64 characters'],
    [
      [grant('6', { betCount: 1001 })],
      'playersData.0.betCount must be a whole number from 1 to 1000',
    ],
    [[grant('6', { betAmount: '5' })], 'playersData.0.betAmount must be a number of 0 or more'],
  ])('refuses the players %j as a whole', async (playersData, message) => {
    const { id } = template();
    const { status, json } = await bench().call('bonus/applyBatch', {
      templateId: id,
      playersData,
    });
    expect({ status, json }).toEqual({ status: 400, json: { code: 5, message } });
  });

  it('takes a thousand players at once, not one more', async () => {
    const { id } = template();
    const players = Array.from({ length: 1001 }, (_, n) => grant(`p-${n}`));
    expect((await apply(id, ...players)).json).toMatchObject({ code: 5 });
    expect((await apply(id, ...players.slice(0, 1000))).status).toBe(200);
    expect(bench().api.bonuses).toHaveLength(1000);
  });
});

describe('revoking bonuses', () => {
  it('revokes what can be, and says of each other one why not', async () => {
    const { api } = bench();
    const { id } = template();
    const [fresh, gone, used] = [
      await issued(id, '1'),
      await issued(id, '2'),
      await issued(id, '3', { betCount: 1 }),
    ];
    await revoke(gone);
    api.useBonus(used);
    const foreign = api.issueBonus(api.createTemplate(OTHER_CID).id, { userId: '1' });
    const { status, json } = await revoke(fresh, gone, used, foreign.id, 7);
    expect(status).toBe(200);
    expect(json?.items).toMatchObject({ [fresh]: { id: fresh, status: 'revoked' } });
    expect(json?.errorItems).toEqual([
      { bonusId: gone, code: 35, message: 'Bonus is already revoked' },
      { bonusId: used, code: 36, message: 'Bonus cannot be revoked' },
      { bonusId: foreign.id, code: 32, message: 'Bonus not found' },
      { bonusId: 7, code: 32, message: 'Bonus not found' },
    ]);
    expect(api.bonus(foreign.id)?.status).toBe('active');
  });

  it('wants a list of whole numbers', async () => {
    const { json } = await bench().call('bonus/revokeBatch', { bonusesIds: [1, '2'] });
    expect(json).toMatchObject({ code: 5, message: expect.stringContaining('bonusesIds.1') });
  });
});

describe('reading bonuses', () => {
  it("pages one player's, of this partner alone", async () => {
    const { api, call } = bench();
    for (let n = 0; n < 101; n += 1) api.issueBonus(template().id, { userId: '6' });
    api.issueBonus(template().id, { userId: '7' });
    api.issueBonus(api.createTemplate(OTHER_CID).id, { userId: '6' });
    const { json } = await call('player/bonuses', { userId: '6', page: 2 });
    expect(json).toMatchObject({
      items: [{ id: 90101, userId: '6' }],
      metadata: { totalPages: 2, totalItems: 101, currentPage: 2, itemsPerPage: 100 },
    });
    const unknown = { totalPages: 0, totalItems: 0, currentPage: 1, itemsPerPage: 100 };
    expect((await call('player/bonuses', { userId: 'x' })).json).toEqual({
      items: [],
      metadata: unknown,
    });
  });

  it('answers for a foreign bonus as for a missing one', async () => {
    const { api } = bench();
    const foreign = api.issueBonus(api.createTemplate(OTHER_CID).id, { userId: '6' });
    const answers = [await bonus(foreign.id), await bonus(9999)];
    const missing = '{"code":32,"message":"Bonus not found"}';
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [404, missing],
      [404, missing],
    ]);
  });
});

describe('the life of a bonus', () => {
  const statusOf = async (id: number) => (await bonus(id)).json?.status;

  it('is new, active, activated by the first bet and done with the last', async () => {
    const { api } = bench();
    const id = await issued(template().id, '6', { forceActivated: false });
    expect(await statusOf(id)).toBe('new');
    api.activateBonus(id);
    expect((await bonus(id)).json).toMatchObject({ status: 'active', activationDate: NOW });
    api.useBonus(id);
    expect((await bonus(id)).json).toMatchObject({
      status: 'activated',
      freebetData: { betCount: 2, availableBetCount: 1 },
    });
    api.useBonus(id);
    expect(await statusOf(id)).toBe('done');
    expect(() => api.useBonus(id)).toThrow('is done');
    expect(() => api.activateBonus(id)).toThrow('is done, not new');
  });

  it('expires unused: behind its end when active, behind the template’s when new', async () => {
    const { api, advance } = bench();
    const { id: templateId } = template();
    const active = await issued(templateId, '1');
    const fresh = await issued(templateId, '2', { forceActivated: false });
    const used = await issued(templateId, '3');
    api.useBonus(used);
    advance(2 * DAY);
    expect(await statusOf(active)).toBe('active');
    advance(1);
    expect([await statusOf(active), await statusOf(fresh)]).toEqual(['expired', 'new']);
    advance(8 * DAY);
    expect([await statusOf(fresh), await statusOf(used)]).toEqual(['expired', 'activated']);
    expect(() => api.useBonus(fresh)).toThrow('is expired');
    expect((await revoke(fresh)).json?.errorItems).toMatchObject([{ bonusId: fresh, code: 36 }]);
  });

  it('can be used at once when it is new: the bet takes it', async () => {
    const id = await issued(template().id, '6', { forceActivated: false });
    expect(bench().api.useBonus(id)).toMatchObject({ status: 'activated', activationDate: NOW });
  });
});
