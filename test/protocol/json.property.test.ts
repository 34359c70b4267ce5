import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonError, jsonString, parseJsonObject } from '../../src/protocol/json.ts';
import {
  nearlyJson,
  spelledObject,
  stringText,
  unescaped,
  withPlainNames,
} from './support/json-text.ts';

const DEPTH_MAX = 6;

function parse(text: string) {
  return parseJsonObject(Buffer.from(text, 'utf8'));
}

describe('a JSON document, for any spelling', () => {
  it('has the values that JSON.parse gives and the text that came (I9)', () => {
    fc.assert(
      fc.property(spelledObject, ({ spaced }) => {
        expect(parse(spaced).text).toBe(spaced);
        const plain = withPlainNames(spaced);
        expect(parse(plain).value).toEqual(JSON.parse(plain));
      }),
    );
  });

  it('has its members under the names that are meant, however they are spelled (I9)', () => {
    fc.assert(
      fc.property(spelledObject, ({ spaced, members }) => {
        const document = parse(spaced);
        const names = members.map(({ name }) => unescaped(name));
        expect(Object.keys(document.value).toSorted()).toEqual(names.toSorted());
        for (const { name, value } of members) {
          if (/^[{[]/.test(value)) continue;
          expect(document.value[unescaped(name)]).toEqual(JSON.parse(value));
        }
      }),
    );
  });

  it('gives each member the exact text of its value (I9)', () => {
    fc.assert(
      fc.property(spelledObject, ({ compact, members }) => {
        const document = parse(compact);
        for (const { name, value } of members) {
          expect(document.rawOf(unescaped(name))).toBe(value);
          expect(document.numberText(unescaped(name))).toBe(
            typeof JSON.parse(value) === 'number' ? value : undefined,
          );
        }
      }),
    );
  });

  it('drops whitespace between tokens and nothing else when it is rewritten (I9)', () => {
    fc.assert(
      fc.property(spelledObject, ({ spaced, compact }) => {
        expect(parse(spaced).replace({})).toBe(compact);
      }),
    );
  });

  it('keeps the text of all other members when some are replaced, added or removed (I9)', () => {
    const changes = fc.dictionary(stringText.map(unescaped), fc.option(stringText), {
      maxKeys: 3,
      noNullPrototype: true,
    });
    const picks = fc.array(fc.tuple(fc.nat(), fc.option(stringText)), { maxLength: 3 });
    fc.assert(
      fc.property(spelledObject, changes, picks, ({ spaced, members }, added, picked) => {
        const all = new Map<string, string | undefined>();
        for (const [name, raw] of Object.entries(added)) all.set(name, raw ?? undefined);
        for (const [at, raw] of picked) {
          const member = members[at % Math.max(1, members.length)];
          if (member !== undefined) all.set(unescaped(member.name), raw ?? undefined);
        }

        const expected: string[] = [];
        for (const { name, value } of members) {
          const raw = all.has(unescaped(name)) ? all.get(unescaped(name)) : value;
          if (raw !== undefined) expected.push(`${name}:${raw}`);
        }
        const known = new Set(members.map(({ name }) => unescaped(name)));
        for (const [name, raw] of Object.entries(Object.fromEntries(all))) {
          if (raw !== undefined && !known.has(name)) expected.push(`${jsonString(name)}:${raw}`);
        }
        expect(parse(spaced).replace(Object.fromEntries(all))).toBe(`{${expected.join(',')}}`);
      }),
    );
  });

  it('is accepted exactly when JSON.parse accepts it and names, depth and root allow', () => {
    fc.assert(
      fc.property(nearlyJson, (text) => {
        let accepted = true;
        try {
          parseJsonObject(Buffer.from(text, 'utf8'), { depthMax: DEPTH_MAX });
        } catch (error) {
          if (!(error instanceof JsonError)) throw error;
          accepted = false;
        }
        expect(accepted).toBe(shouldAccept(text.toWellFormed()));
      }),
      { numRuns: 2000 },
    );
  });
});

/**
 * The same rules in another form: `JSON.parse` judges the grammar, and a walk over the tokens checks names and
 * depth. The names from `JSON.parse` prove nothing: V8 misreads some with escapes.
 */
function shouldAccept(text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const open: Set<unknown>[] = [];
  for (const [token, name] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (name !== undefined && isRepeated(open.at(-1), JSON.parse(name))) return false;
    if (open.length > DEPTH_MAX) return false;
  }
  return true;
}

/** Brackets and strings; a name, which precedes a colon, is the first group. */
const TOKENS = /("(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"|[[\]{}]/gs;

function isRepeated(names: Set<unknown> | undefined, name: unknown): boolean {
  if (names?.has(name) === true) return true;
  names?.add(name);
  return false;
}
