import { describe, expect, it } from 'vitest';
import { treeOf, treeText } from '../../src/bonuses/json-tree.ts';
import { idsIn, type Place, type Terms, translate } from '../../src/bonuses/translate.ts';
import { parseJsonObject } from '../../src/protocol/json.ts';

const ANN = '5a8f0b9e-1111-4222-8333-444444444444';
const FOREIGN = 'ffffffff-1111-4222-8333-444444444444';
/** A player brought along from before: the id has another form. */
const OLD = '1999';

const terms: Terms = {
  serviceCid: 'fbet',
  operatorCid: 'alpha-key',
  userOf: new Map([
    [ANN, 'ann'],
    [OLD, 'old-ben'],
  ]),
};

function told(value: object, place: Place): unknown {
  const translated = translate(
    treeOf(parseJsonObject(Buffer.from(JSON.stringify(value)))),
    terms,
    place,
  );
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

  it('hides in names of templates too what it does not know', () => {
    expect(told({ name: FOREIGN }, 'error')).toEqual({ name: '[hidden]' });
  });
});

it('finds every id that has to be looked up', () => {
  const json = treeOf(
    parseJsonObject(
      Buffer.from(`{"userId":"1999","a":[{"player_id":7,"b":"x ${ANN} y"}],"${FOREIGN}":1,"id":5}`),
    ),
  );
  expect(idsIn(json)).toEqual(new Set(['1999', '7', ANN, FOREIGN]));
});
