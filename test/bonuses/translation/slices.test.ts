import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { translatedPage } from '../../../src/bonuses/paging.ts';
import { type Json, treeInSlices, treeOf } from '../../../src/bonuses/translation/json-tree.ts';
import { idsIn } from '../../../src/bonuses/translation/translate.ts';
import { parseJsonObject } from '../../../src/protocol/json.ts';
import samples from '../../fixtures/samples.json' with { type: 'json' };
import { turnsDuring } from '../../support/others-turns.ts';

const COUNT = 8_000;
const [bonus] = Object.values(samples.applyBatch.response.items);
const documentOf = (value: unknown) => parseJsonObject(Buffer.from(JSON.stringify(value)));
const document = documentOf({
  items: Object.fromEntries(Array.from({ length: COUNT }, (_, id) => [`${id}`, { ...bonus, id }])),
});

it('a tree is the same in slices as at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (value) => {
      const any = documentOf(value);
      expect(await treeInSlices(any)).toEqual(treeOf(any));
    }),
  );
});

describe('while an answer with thousands of bonuses is put into the operator’s terms', () => {
  const masked = (text: string) => text;
  const terms = { serviceCid: 'aggregator', operatorCid: 'alpha', masked, userOf: new Map() };

  it.each<[string, (tree: Json) => Promise<unknown>]>([
    ['read', () => treeInSlices(document)],
    ['searched for players', (tree) => idsIn(tree)],
    ['translated', (tree) => translatedPage(tree, terms)],
  ])('callbacks have their turn: it is %s (I7)', async (_what, step) => {
    const tree = await treeInSlices(document);
    expect(await turnsDuring(() => step(tree))).toBeGreaterThan(2);
  });
});
