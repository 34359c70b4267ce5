import { describe, expect, it } from 'vitest';
import samples from '../../../fixtures/samples.json' with { type: 'json' };
import { CID, DAY, NOW, OTHER_CID, TEMPLATE, useBonusApi } from './support/bonus-api.ts';

const bench = useBonusApi();

const idsOf = (json: Readonly<Record<string, unknown>> | undefined): unknown =>
  Array.isArray(json?.items) ? json.items.map(({ id }) => id) : json;

describe('creating a template', () => {
  it('gives back what was asked for, with an id, as the published samples print it', async () => {
    const { name, cid: _cid, ...fields } = samples.templatesAdd.request;
    const { status, json } = await bench().call('templates/add', { name, ...fields });
    expect(status).toBe(200);
    expect(json).toEqual({ ...samples.templatesAdd.response, id: 501, cid: CID });
    expect(Object.keys(json ?? {})).toEqual(Object.keys(samples.templatesAdd.response));
  });

  it('keeps the exact text of odds and amounts (I9)', async () => {
    const { api, client } = bench();
    const exact = '"minOdd":1.10,"maxOdd":3e0,"betAmount":9007199254740993,"maxWin":4.00';
    const { minOdd, maxOdd, betAmount, maxWin, ...rest } = { ...TEMPLATE, cid: CID };
    const body = `${JSON.stringify(rest).slice(0, -1)},${exact}}`;
    const created = await client.call('POST', '/bonuses/templates/add', body);
    expect(created.body).toContain('"minOdd":1.10,"maxOdd":3e0,"betAmount":9007199254740993');
    expect(created.body).toContain('"maxWin":4.00');
    expect(api.templates.get(501)?.betAmount).toBe('9007199254740993');
  });

  it('uses USD as the currency of the maximum win and no limits if none are given', async () => {
    const { json } = await bench().call('templates/add', TEMPLATE);
    expect(json).toMatchObject({
      freebetData: { maxWinCurrency: 'USD' },
      availableCountries: null,
      availableTournaments: null,
    });
  });

  it('makes two templates of the same body asked twice', async () => {
    const first = await bench().call('templates/add', TEMPLATE);
    const second = await bench().call('templates/add', TEMPLATE);
    expect([first.json?.id, second.json?.id]).toEqual([501, 502]);
  });

  it.each([
    [{ name: 'n'.repeat(256) }, 'name must have 1 to 255 characters'],
    [{ name: undefined }, 'name is missing'],
    [{ type: 'cashback' }, 'type must be one of freebet_standart'],
    [{ enable: 1 }, 'enable must be true or false'],
    [{ betCount: 1001 }, 'betCount must be a whole number from 1 to 1000'],
    [{ daysToUse: 202 }, 'daysToUse must be a whole number from 1 to 201'],
    [{ stage: 4 }, 'stage must be a whole number from 1 to 3'],
    [{ stage: 0 }, 'stage must be a whole number from 1 to 3'],
    [{ fromTime: 1.5 }, 'fromTime must be a whole number of 0 or more'],
    [{ toTime: NOW - 1 }, 'toTime must not be before fromTime'],
    [{ betAmount: '5' }, 'betAmount must be a number of 0 or more'],
    [{ minOdd: -1 }, 'minOdd must be a number of 0 or more'],
    [{ disciplines: 'csgo' }, 'disciplines must be a list'],
    [{ disciplines: ['csgo', 7] }, 'disciplines.1 must be a string'],
    [{ availableCountries: ['GB', 'GBR'] }, 'availableCountries.1 must have two letters'],
  ])('refuses %j', async (wrong, message) => {
    const { status, json } = await bench().call('templates/add', { ...TEMPLATE, ...wrong });
    expect({ status, json }).toEqual({ status: 400, json: { code: 5, message } });
    expect(bench().api.templates.size).toBe(0);
  });

  it.each([
    [{ name: 'n'.repeat(255) }],
    [{ betCount: 1000 }],
    [{ daysToUse: 201 }],
    [{ stage: 3 }],
    [{ toTime: NOW }],
  ])('takes the limit itself: %j', async (limit) => {
    expect((await bench().call('templates/add', { ...TEMPLATE, ...limit })).status).toBe(200);
  });
});

describe('reading templates', () => {
  it('reads one, and answers another partner as for a missing one', async () => {
    const { api, call } = bench();
    const own = api.createTemplate(CID, { name: 'Own' });
    const foreign = api.createTemplate(OTHER_CID);
    expect((await call('template', { templateId: own.id })).json).toMatchObject({ name: 'Own' });
    const answers = [];
    for (const templateId of [foreign.id, 9999]) {
      const { status, body } = await call('template', { templateId });
      answers.push({ status, body });
    }
    const missing = { status: 404, body: '{"code":30,"message":"Template not found"}' };
    expect(answers).toEqual([missing, missing]);
  });

  it.each([
    [0, 1, [], 0],
    [1, 1, [501], 1],
    [100, 1, [501, 600], 1],
    [101, 1, [501, 600], 2],
    [101, 2, [601], 2],
    [5514, 56, [6001, 6014], 56],
    [1, 2, [], 1],
  ])('lists %i by id, page %i, a hundred at most', async (count, page, ends, totalPages) => {
    const { api, call } = bench();
    for (let n = 0; n < count; n += 1) api.createTemplate(CID);
    api.createTemplate(OTHER_CID);
    const { json } = await call('templates', { page });
    const ids = idsOf(json);
    const shown = Array.isArray(ids) && ids.length > 1 ? [ids[0], ids.at(-1)] : ids;
    expect(shown).toEqual(ends);
    const metadata = { totalPages, totalItems: count, currentPage: page, itemsPerPage: 100 };
    expect(json?.metadata).toEqual(metadata);
  });

  it.each([[0], [1.5], ['1'], [-1]])('has no page %j', async (page) => {
    expect((await bench().call('templates', { page })).json).toMatchObject({ code: 5 });
  });

  it('starts with the first page', async () => {
    expect((await bench().call('templates')).json).toMatchObject({ metadata: { currentPage: 1 } });
  });

  it('can be issued for thirty days when it was made in the console', async () => {
    const template = bench().api.createTemplate(CID);
    expect([template.enable, template.fromTime <= NOW]).toEqual([true, true]);
    expect(template.toTime).toBe(NOW + 30 * DAY);
  });
});

describe('a service that lists the newest first', () => {
  const newestFirst = useBonusApi({ templateOrder: 'newestFirst' });

  it('does so over all pages', async () => {
    const { api, call } = newestFirst();
    for (let n = 0; n < 101; n += 1) api.createTemplate(CID);
    expect(idsOf((await call('templates', { page: 2 })).json)).toEqual([501]);
  });
});
