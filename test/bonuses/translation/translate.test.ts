import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { treeOf, treeText } from '../../../src/bonuses/translation/json-tree.ts';
import type { Terms, TranslatedPlace } from '../../../src/bonuses/translation/terms.ts';
import { idsIn, translate } from '../../../src/bonuses/translation/translate.ts';
import { parseJsonObject } from '../../../src/protocol/json.ts';

const ANN = '5a8f0b9e-1111-4222-8333-444444444444';
const FOREIGN = 'ffffffff-1111-4222-8333-444444444444';
/** An imported player, whose id has another form. */
const OLD = '1999';

const terms: Terms = {
  serviceCid: 'fbet',
  operatorCid: 'alpha-key',
  masked: (text) => text.replaceAll('the-key', '***'),
  userOf: new Map([
    [ANN, 'ann'],
    [OLD, 'old-ben'],
  ]),
};

const tree = (value: object) => treeOf(parseJsonObject(Buffer.from(JSON.stringify(value))));

function told(value: object, place: TranslatedPlace): unknown {
  const translated = translate(tree(value), terms, place);
  return translated === undefined ? undefined : JSON.parse(treeText(translated));
}

describe('an item of the service’s', () => {
  it.each([
    ['userId', ANN, 'ann'],
    ['userId', OLD, 'old-ben'],
    ['userId', 1999, 'old-ben'],
    ['user_id', ANN, 'ann'],
    ['playerId', ANN, 'ann'],
    ['cid', 'fbet', 'alpha-key'],
    ['partner', 'fbet', 'alpha-key'],
    ['note', `for ${ANN}`, 'for ann'],
    ['note', `for ${ANN.toUpperCase()}`, 'for ann'],
    ['note', FOREIGN, '[hidden]'],
    ['note', 'fbetter', 'fbetter'],
    ['note', 'made by fbet.', 'made by alpha-key.'],
    ['users', [ANN, FOREIGN, 1999, '77', 78], ['ann', 'old-ben']],
    ['userId', [FOREIGN, ANN], ['ann']],
    ['name', { by: FOREIGN }, { by: '[hidden]' }],
    ['disciplines', [[FOREIGN], 'fbet'], [['[hidden]'], 'alpha-key']],
    [
      'partner',
      { id: 6, name: 'fbet', type: FOREIGN },
      { id: 6, name: 'alpha-key', type: '[hidden]' },
    ],
    ['freebetData', { name: FOREIGN }, { name: '[hidden]' }],
    ['status', { note: 'fbet', list: [[[ANN]]] }, { note: 'alpha-key', list: [[['ann']]] }],
  ])('%s %j becomes %j', (name, value, expected) => {
    expect(told({ id: 7, [name]: value }, 'item')).toEqual({ id: 7, [name]: expected });
  });

  it.each(['userId', 'user_id', 'player', 'uid'])(
    'is dropped whole when %s is not a player of the operator (I8)',
    (name) => {
      expect(told({ id: 7, [name]: FOREIGN }, 'item')).toBeUndefined();
      expect(told({ id: 7, [name]: 6 }, 'item')).toBeUndefined();
      expect(told({ items: [{ [name]: FOREIGN }, { [name]: ANN }] }, 'item')).toEqual({
        items: [{ [name]: 'ann' }],
      });
      expect(told({ items: { 1: { [name]: FOREIGN }, 2: { [name]: ANN } } }, 'item')).toEqual({
        items: { 2: { [name]: 'ann' } },
      });
    },
  );

  it.each(['userId', 'user', 'uid'])(
    'loses only %s if it is a template, which names no player',
    (name) => {
      const template = { id: 7, [name]: FOREIGN, by: { [name]: 6, at: 5 } };
      expect(told({ 7: template, 8: { id: 8, [name]: ANN } }, 'template')).toEqual({
        7: { id: 7 },
        8: { id: 8, [name]: 'ann' },
      });
    },
  );

  it('has ids exchanged in keys too, whole or in part (I8)', () => {
    const keyed = { [`user ${FOREIGN}`]: 1, [`x-${ANN}`]: 2, 'of fbet': 3 };
    expect(told(keyed, 'item')).toEqual({ 'user [hidden]': 1, 'x-ann': 2, 'of alpha-key': 3 });
  });

  it('keeps to the letter what the operator itself gave', () => {
    const own = {
      name: `about ${FOREIGN} at fbet`,
      disciplines: ['fbet'],
      availableTournaments: [FOREIGN],
      userId: null,
    };
    expect(told(own, 'item')).toEqual(own);
  });
});

describe('an error of the service’s, of unknown shape', () => {
  it('has ids exchanged wherever they stand: members, texts, keys', () => {
    const error = {
      [ANN]: { code: 34 },
      [FOREIGN]: { code: 34 },
      [OLD]: 1,
      message: `${ANN} and ${OLD} but not 21999 at fbet.`,
      ref: FOREIGN,
      deep: [{ who: ANN }, { userId: FOREIGN }],
    };
    expect(told(error, 'error')).toEqual({
      ann: { code: 34 },
      'old-ben': 1,
      message: 'ann and old-ben but not 21999 at alpha-key.',
      ref: '[hidden]',
      deep: [{ who: 'ann' }],
    });
  });

  it('has what lets somebody in masked, wherever in it that stands', () => {
    const error = { message: 'not signed with the-key', more: [{ said: 'the-key' }] };
    expect(translate(tree(error), terms, 'error')).toEqual(
      tree({ message: 'not signed with ***', more: [{ said: '***' }] }),
    );
  });

  it('has each word replaced once, even if two players swap their names', () => {
    const swapped = {
      ...terms,
      userOf: new Map([
        ['1999', '2000'],
        ['2000', '1999'],
        [ANN, '2000'],
      ]),
    };
    const error = { message: `1999, 2000.Both! ${ANN} 3.1999 2000.` };
    expect(translate(tree(error), swapped, 'error')).toEqual(
      tree({ message: '2000, 1999.Both! 2000 3.1999 1999.' }),
    );
  });

  it('has ids exchanged that are no words, the longest first', () => {
    const odd = {
      ...terms,
      userOf: new Map([
        ['a b', 'ann'],
        ['a b+', 'ben'],
      ]),
    };
    expect(translate(tree({ message: 'a b+, a b; xa b' }), odd, 'error')).toEqual(
      tree({ message: 'ben, ann; xa b' }),
    );
  });

  it('hides a key of the aggregator’s that is glued to something', () => {
    const long = { ...terms, serviceCid: 'aggregator-key' };
    expect(translate(tree({ message: 'x_aggregator-key_v2' }), long, 'error')).toEqual(
      tree({ message: 'x_alpha-key_v2' }),
    );
  });

  it.each([
    ['begins with it', 'aggregator-key-alpha'],
    ['ends with it', 'alpha.aggregator-key'],
    ['has what a replacement would obey', '$&-$`-alpha'],
  ])('gets the operator’s own key as it is, also where that %s (I8)', (_, operatorCid) => {
    const alike = { ...terms, serviceCid: 'aggregator-key', operatorCid };
    expect(
      translate(tree({ message: 'aggregator-key, x_aggregator-key_v2' }), alike, 'error'),
    ).toEqual(tree({ message: `${operatorCid}, x_${operatorCid}_v2` }));
  });

  it('keeps the service’s key from an operator whose own ends as that one begins (I8)', () => {
    const alike = { ...terms, serviceCid: 'aggregator-key', operatorCid: 'alpha-aggre' };
    expect(translate(tree({ message: 'alpha-aggregator-key' }), alike, 'error')).toEqual(
      tree({ message: 'alpha-alpha-aggre' }),
    );
  });

  it('sees through escapes (I8)', () => {
    const escaped = `{"n":"\\u0066bet","m":"\\u0066fffffff-1111-4222-8333-444444444444","userId":"${ANN.replace('5', '\\u0035')}"}`;
    const translated = translate(treeOf(parseJsonObject(Buffer.from(escaped))), terms, 'item');
    expect(translated && JSON.parse(treeText(translated))).toEqual({
      n: 'alpha-key',
      m: '[hidden]',
      userId: 'ann',
    });
  });

  it('takes a moment for thousands of players, so that no bet waits for it', () => {
    const userOf = new Map(Array.from({ length: 4_000 }, (_, n) => [randomUUID(), `user-${n}`]));
    const errorItems = [...userOf.keys()].map((userId) => ({
      userId,
      code: 34,
      message: `player ${userId} has a bonus of this template already`,
      detail: 'once per player and template',
    }));
    const before = process.cpuUsage();
    const translated = translate(tree({ errorItems }), { ...terms, userOf }, 'error');
    expect(translated && treeText(translated)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}/);
    // It takes about 40 ms; comparing every player with every text would take 8 s.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(3_000);
  });

  it('takes only a moment for an endless word', () => {
    const message = `1999.${'a.'.repeat(500_000)}${ANN}`;
    const before = process.cpuUsage();
    const translated = translate(tree({ message }), terms, 'error');
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(3_000);
    expect(translated && treeText(translated)).toMatch(/"old-ben\.a\.a.*a\.ann"/);
  });

  it('hides unknown ids in names of templates too', () => {
    expect(told({ name: FOREIGN }, 'error')).toEqual({ name: '[hidden]' });
  });
});

it('finds every id that has to be looked up', async () => {
  const json = treeOf(
    parseJsonObject(
      Buffer.from(`{"userId":"1999","a":[{"player_id":7,"b":"x ${ANN} y"}],"${FOREIGN}":1,"id":5}`),
    ),
  );
  expect(await idsIn(json)).toEqual(new Set(['1999', '7', ANN, FOREIGN]));
});
