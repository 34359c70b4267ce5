import { describe, expect, it } from 'vitest';
import {
  factsOfCreate,
  factsOfTemplate,
  mayComeFrom,
} from '../../../src/bonuses/read-back/template-match.ts';
import { type Json, treeOf } from '../../../src/bonuses/translation/json-tree.ts';
import { parseJsonObject } from '../../../src/protocol/json.ts';
import samples from '../../fixtures/samples.json' with { type: 'json' };

const tree = (value: object) => treeOf(parseJsonObject(Buffer.from(JSON.stringify(value))));
const { request, response } = samples.templatesAdd;
const fits = (item: Json, body: object) =>
  mayComeFrom(factsOfTemplate(item), factsOfCreate(tree(body)));

describe('mayComeFrom', () => {
  it('knows the published answer to the published create', () => {
    expect(fits(tree(response), request)).toBe(true);
  });

  it.each([
    { name: 'Another' },
    { type: 'other' },
    { stage: 2 },
    { fromTime: 1 },
    { toTime: 1 },
    { daysToUse: 2 },
    { betAmount: 5.01 },
    { betCount: 2 },
    { maxWin: 5 },
    { currency: 'EUR' },
    { maxWinCurrency: 'EUR' },
    { minSelection: 2 },
    { maxSelection: 3 },
    { minOdd: 1.1 },
    { maxOdd: 3.1 },
    { disciplines: ['dota2'] },
    { disciplines: ['csgo', 'dota2'] },
    { availableCountries: ['DE'] },
    { availableTournaments: ['7'] },
  ])('tells a create with %j apart', (other) => {
    expect(fits(tree(response), { ...request, ...other })).toBe(false);
  });

  it.each([
    { availableCountries: [] },
    { availableTournaments: null },
    { disciplines: ['csgo', 'csgo'] },
    { maxWinCurrency: undefined },
    { enable: !request.enable },
    { later: 'unknown to us' },
  ])('takes %j for the same', (other) => {
    expect(fits(tree(response), { ...request, ...other })).toBe(true);
  });

  it('compares numbers by value', () => {
    const item = treeOf(parseJsonObject(Buffer.from('{"freebetData":{"betAmount":5.0}}')));
    expect(fits(item, { betAmount: 5 })).toBe(true);
  });
});
