import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonError, type ScannedValue, scanJson } from '../../src/protocol/json-scan.ts';
import { spelledObject, withPlainNames } from './support/json-text.ts';

const LIMITS = { depthMax: 64 };

/** The value that the spans describe. */
function meantBy(text: string, { start, end, inside }: ScannedValue): unknown {
  if (inside === undefined) return JSON.parse(text.slice(start, end));
  return inside.kind === 'array'
    ? inside.elements.map((element) => meantBy(text, element))
    : Object.fromEntries(inside.members.map((member) => [member.name, meantBy(text, member)]));
}

const meant = (text: string) =>
  meantBy(text, { start: 0, end: text.length, inside: scanJson(text, LIMITS).inside });

describe('scanJson', () => {
  it('notes the members of an object or the elements of an array, to the depth it is asked for', () => {
    expect(scanJson(' {"a": 1}', LIMITS)).toMatchObject({
      inside: { members: [{ name: 'a', nameStart: 2, start: 7, end: 8 }] },
      hasSpace: true,
    });
    expect(scanJson('[1,[2]]', { notedDepthMax: 1 })).toEqual({
      inside: {
        kind: 'array',
        elements: [
          { start: 1, end: 2, inside: undefined },
          { start: 3, end: 6, inside: undefined },
        ],
      },
      hasSpace: false,
    });
    for (const text of ['7', '"te xt"', 'null']) {
      expect(scanJson(text, LIMITS)).toEqual({ inside: undefined, hasSpace: false });
    }
  });

  it.each([
    [128, ''],
    [129, '...'],
  ])('shows a path of %d characters to people as far as they read', (length, end) => {
    const name = 'n'.repeat(length);
    expect(() => scanJson(`{"${name}":1,"${name}":2}`, LIMITS)).toThrow(
      expect.objectContaining({ field: `${'n'.repeat(128)}${end}` }),
    );
  });

  it('throws what others know by its name', () => {
    expect(() => scanJson('{"a":1,"a":2}', LIMITS)).toThrow(
      expect.objectContaining({ name: 'JsonError', field: 'a' }),
    );
  });
  it('finds at every depth what JSON.parse reads there', () => {
    fc.assert(
      fc.property(spelledObject, ({ spaced }) => {
        const text = withPlainNames(spaced);
        expect(meant(text)).toEqual(JSON.parse(text));
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('', ' ', '\n\t'), (value, space) => {
        const text = `${space}${JSON.stringify(value, null, space)}${space}`;
        expect(meant(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('gives the exact text of a number wherever it stands, without the space around it (I9)', () => {
    const text = '{"a" : [ 1.10 , { "b" : -0.0 } , [ 9007199254740993 ] ] }';
    const texts: string[] = [];
    const collect = ({ start, end, inside }: ScannedValue): void => {
      if (inside === undefined) texts.push(text.slice(start, end));
      else if (inside.kind === 'array') inside.elements.forEach(collect);
      else inside.members.forEach(collect);
    };
    collect({ start: 0, end: text.length, inside: scanJson(text, LIMITS).inside });
    expect(texts).toEqual(['1.10', '-0.0', '9007199254740993']);
  });

  it.each([
    ['a name that occurs twice', '{"a":[{"b":1,"b":2}]}', 'a.0.b'],
    ['the same name spelled in two ways', '{"a":{"b":1,"\\u0062":2}}', 'a.b'],
    ['nesting beyond the limit', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`, `a${'.0'.repeat(63)}`],
  ])('refuses %s, at any depth, and says where', (_, text, field) => {
    expect(() => scanJson(text, LIMITS)).toThrow(JsonError);
    expect(() => scanJson(text, LIMITS)).toThrow(expect.objectContaining({ field }));
  });

  it('bears the deepest text that is allowed', () => {
    const text = `${'['.repeat(64)}1.50${']'.repeat(64)}`;
    expect(meant(text)).toEqual(JSON.parse(text));
  });
});
