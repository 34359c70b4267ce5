import { describe, expect, it } from 'vitest';
import { textFinder } from '../../src/protocol/json.ts';

const cidOf = (text: string, valueBytesMax = 1_024) =>
  textFinder('cid', valueBytesMax)(Buffer.from(text));

describe('a text looked for in bytes that nobody has verified', () => {
  it.each([
    ['{"cid":"a"}', 'a'],
    [' \n{ "x" : [1] , "cid" :\t"outer" }', 'outer'],
    ['{"x":"\\"cid\\":\\"no\\"","cid":"yes"}', 'yes'],
    ['{"x":"\\\\","cid":"yes"}', 'yes'],
    ['{"x":"cid","cid":"yes"}', 'yes'],
    ['{"cid":"al\\/pha \\u00e9"}', 'al/pha é'],
    ['{"cid":"déjà vu"}', 'déjà vu'],
    ['{"cid":""}', ''],
    // Refused when it is parsed, so it does not matter which of the two was meant.
    ['{"cid":"a","cid":"b"}', 'a'],
  ])('is found in %s', (text, cid) => {
    expect(cidOf(text)).toBe(cid);
  });

  it.each([
    '',
    'null',
    '["cid","a"]',
    '"cid"',
    '{"cid"',
    '{"cid":',
    '{"cid":7}',
    '{"cid":null}',
    '{"cid":"a',
    '{"cid":"a\n"}',
    '{"x":"cid","y":"a"}',
    '{"cid "  :"a"}',
  ])('is not found in %j', (text) => {
    expect(cidOf(text)).toBeUndefined();
  });

  it('is no longer than it may be', () => {
    expect(cidOf('{"cid":"1234"}', 4)).toBe('1234');
    expect(cidOf('{"cid":"12345"}', 4)).toBeUndefined();
    expect(cidOf('{"cid":"\\n\\n\\n"}', 4)).toBeUndefined();
  });
});
