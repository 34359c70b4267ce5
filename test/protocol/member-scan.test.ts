import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findText } from '../../src/protocol/member-scan.ts';

const cidOf = (text: string, valueBytesMax = 1_024) =>
  findText(Buffer.from(text), 'cid', valueBytesMax);

describe('findText', () => {
  it.each([
    ['{"cid":"a"}', 'a'],
    [' \n{ "x" : [1,{"cid":"inner"}] , "cid" :\t"outer" }', 'outer'],
    ['{"x":"\\"cid\\":\\"no\\"","cid":"yes"}', 'yes'],
    ['{"x":"\\\\","cid":"yes"}', 'yes'],
    ['{"x":"cid","cid":"yes"}', 'yes'],
    ['{"cid":"al\\/pha \\u00e9"}', 'al/pha é'],
    ['{"cid":"déjà vu"}', 'déjà vu'],
    ['{"cid":""}', ''],
    // The parser refuses it afterwards, so it does not matter which of the two was meant.
    ['{"cid":"a","cid":"b"}', 'a'],
  ])('finds the member of the outermost object in %s', (text, cid) => {
    expect(cidOf(text)).toBe(cid);
  });

  it.each([
    '',
    'null',
    '[]',
    '["cid","a"]',
    '[{"cid":"a"}]',
    '"cid"',
    '{',
    '{"cid"',
    '{"cid":',
    '{"cid":7}',
    '{"cid":null}',
    '{"cid":{"cid":"a"}}',
    '{"x":{"cid":"a"}}',
    '{"x":{}}"cid":"a"',
    '{}{"cid":"a"}',
    '{"cid":"a',
    '{"cid":"a\n"}',
    '{"x":"cid","y":"a"}',
    '{"cid "  :"a"}',
    '\ufeff{"cid":"a"}',
    ']{"cid":"a"}',
  ])('finds none in %j', (text) => {
    expect(cidOf(text)).toBeUndefined();
  });

  it('takes no value longer than it may be', () => {
    expect(cidOf('{"cid":"1234"}', 4)).toBe('1234');
    expect(cidOf('{"cid":"12345"}', 4)).toBeUndefined();
  });

  it('agrees with the parser about every object, however it is written', () => {
    const object = fc.dictionary(
      fc.oneof(fc.constant('cid'), fc.string()),
      fc.oneof(fc.jsonValue(), fc.constantFrom('a', '"', '\\', '\\"', '{"cid":"x"}')),
    );
    fc.assert(
      fc.property(object, fc.constantFrom(0, 1, '\t'), (value, indent) => {
        const parsed: unknown = value.cid;
        const expected = typeof parsed === 'string' ? parsed : undefined;
        expect(cidOf(JSON.stringify(value, undefined, indent), 1e6)).toBe(expected);
      }),
    );
  });

  it('ends on any bytes at all', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        findText(Buffer.from(bytes), 'cid', 64);
      }),
    );
  });

  it('walks hostile bytes once: what it looks at grows with them, and not faster (I11)', () => {
    const hostile = [
      (n: number) => '\\'.repeat(n),
      (n: number) => `{"a":"${'\\"'.repeat(n)}`,
      (n: number) => `{"a":"${'\\'.repeat(2 * n)}"`,
      (n: number) => '{'.repeat(n),
      (n: number) => `{${'"cid":1,'.repeat(n)}`,
      (n: number) => `{${'"":"",'.repeat(n)}`,
    ];
    for (const make of hostile) {
      const bytes = Buffer.from(make(5_000));
      expect(bytesLookedAt(bytes)).toBeLessThan(8 * bytes.length);
    }
  });
});

/** Counted, not timed, so a busy machine makes no difference. A byte read twice counts twice. */
function bytesLookedAt(bytes: Buffer): number {
  let count = 0;
  const counted = new Proxy(bytes, {
    get(target, key) {
      switch (key) {
        case 'length':
          return target.length;
        case 'indexOf':
          return (value: number, from: number) => {
            const found = target.indexOf(value, from);
            count += (found === -1 ? target.length : found + 1) - from;
            return found;
          };
        case 'compare':
          return (other: Buffer, ...range: readonly number[]) => {
            count += other.length;
            return target.compare(other, ...range);
          };
        case 'toString':
          return (encoding: 'utf8', start: number, end: number) => {
            count += end - start;
            return target.toString(encoding, start, end);
          };
        default:
          if (typeof key !== 'string' || !/^-?\d+$/.test(key)) {
            throw new Error(`not counted: ${String(key)}`);
          }
          count += 1;
          return target[Number(key)];
      }
    },
  });
  findText(counted, 'cid', 1_024);
  return count;
}
