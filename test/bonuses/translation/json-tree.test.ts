import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalText,
  entriesOf,
  idOf,
  memberOf,
  textOf,
  treeOf,
  treeText,
} from '../../../src/bonuses/translation/json-tree.ts';
import { parseJsonObject } from '../../../src/protocol/json.ts';

const tree = (text: string) => treeOf(parseJsonObject(Buffer.from(text)));

describe('treeOf and treeText', () => {
  it.each([
    '{}',
    '{"a":[]}',
    '{"b":1.10,"a":-0.0,"c":1E+2,"d":9007199254740993}',
    '{"2":{"x":null},"1":[true,false,[{}]]}',
    '{"e":"\\u00e9\\n\\"\\\\","f":"é","":""}',
    '{"__proto__":{"x":1}}',
  ])('keep %s to the letter (I9)', (text) => {
    expect(treeText(tree(text))).toBe(text);
  });

  it('drop the space between tokens and nothing else', () => {
    expect(treeText(tree(' { "a" : [ 1 , "x  y" ] , "b" : { } } '))).toBe(
      '{"a":[1,"x  y"],"b":{}}',
    );
  });

  it('read what JSON.parse reads, whatever it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(treeText(tree(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('keep the text of every value at the greatest depth a message may have (I9)', () => {
    const text = `{"a":${'['.repeat(63)}1.50${']'.repeat(63)}}`;
    expect(treeText(tree(text))).toBe(text);
  });

  it('bear a string of megabytes', () => {
    const text = `{"a":"${'x\\n'.repeat(1_000_000)}"}`;
    expect(treeText(tree(text))).toBe(text);
  });
});

describe('canonicalText', () => {
  it.each([
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['{"a":5.10}', '{"a":51e-1}'],
    ['{"a":"\\u0041"}', '{"a":"A"}'],
    ['{"a":{"x":1,"y":[1.0]}}', '{ "a": {"y":[1],"x":1} }'],
  ])('is one for %s and %s', (one, other) => {
    expect(canonicalText(tree(one))).toBe(canonicalText(tree(other)));
  });

  it.each([
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":null}', '{}'],
    ['{"a":9007199254740993}', '{"a":9007199254740992}'],
  ])('tells %s from %s', (one, other) => {
    expect(canonicalText(tree(one))).not.toBe(canonicalText(tree(other)));
  });
});

it('gives members by name and ids by their text', () => {
  const json = tree('{"id":42,"name":"x","odd":1.5,"big":1e3,"items":{"7":{"id":7}},"list":[{}]}');
  expect(idOf(json, 'id')).toBe('42');
  expect([idOf(json, 'odd'), idOf(json, 'big'), idOf(json, 'name'), idOf(json, 'no')]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(textOf(json, 'name')).toBe('x');
  expect(entriesOf(memberOf(json, 'items'))).toHaveLength(1);
  expect(entriesOf(memberOf(json, 'list'))).toHaveLength(1);
  expect(entriesOf(undefined)).toEqual([]);
});
