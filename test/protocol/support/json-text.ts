import fc from 'fast-check';

/** A JSON text with whitespace between its tokens, and the same without. */
export interface SpelledText {
  readonly spaced: string;
  readonly compact: string;
}

/** A member as it is spelled: `name` with its quotes and escapes, `value` compact. */
export interface SpelledMember {
  readonly name: string;
  readonly value: string;
}

export interface SpelledObject extends SpelledText {
  readonly members: readonly SpelledMember[];
}

type Tokens = readonly string[];

const number = fc.oneof(
  fc.constantFrom('12.10', '0.30000000000000004', '1E+2', '9007199254740993', '-0.0', '0', '1e-7'),
  fc
    .tuple(fc.maxSafeInteger(), fc.stringMatching(/^(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,3})?$/))
    .map(([whole, rest]) => `${whole}${rest}`),
);

/** Raw characters, emoji, every kind of escape, and escapes of lone surrogates. */
const stringPart = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u0061', '\\uD83D'),
  fc.constantFrom('\u{1F3B2}', 'e\u0301', '\u2028', '{', '}', '[', ']', ',', ':', ' ', 'userId'),
);

export const stringText = fc.array(stringPart, { maxLength: 5 }).map((ps) => `"${ps.join('')}"`);

const { value } = fc.letrec<{ value: Tokens; array: Tokens; object: Tokens }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(number, stringText, fc.constantFrom('true', 'false', 'null')).map((text) => [text]),
    tie('array'),
    tie('object'),
  ),
  array: fc.array(tie('value'), { maxLength: 4 }).map((items) => ['[', ...separated(items), ']']),
  object: membersOf(tie('value')).map((members) => [
    '{',
    ...separated(members.map(([name, tokens]) => [name, ':', ...tokens])),
    '}',
  ]),
}));

/** An object in any spelling that JSON allows; its names are unique at every level. */
export const spelledObject: fc.Arbitrary<SpelledObject> = fc
  .tuple(membersOf(value), fc.infiniteStream(fc.constantFrom('', '', ' ', '\n', '\t', '\r\n  ')))
  .map(([members, gaps]) => {
    const inner = members.map(([name, tokens]) => [name, ':', ...tokens]);
    const tokens = ['{', ...separated(inner), '}'];
    return {
      compact: tokens.join(''),
      spaced: tokens.map((token) => gaps.next().value + token).join('') + gaps.next().value,
      members: members.map(([name, raw]) => ({ name, value: raw.join('') })),
    };
  });

function membersOf(tokens: fc.Arbitrary<Tokens>): fc.Arbitrary<[string, Tokens][]> {
  return fc.uniqueArray(fc.tuple(stringText, tokens), {
    maxLength: 6,
    selector: ([name]) => unescaped(name),
  });
}

/** A name with its escapes resolved. */
export function unescaped(text: string): string {
  return String(JSON.parse(text));
}

/**
 * For `JSON.parse` as the reference: V8 misreads some names with escapes (`src/protocol/json.ts`), so it gets none.
 */
export function withPlainNames(text: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"(\s*:)?/gs, (string, colon?: string) => {
    if (colon === undefined) return string;
    const plain = String(JSON.parse(string.slice(0, -colon.length))).replaceAll(
      /[\\"\p{Cc}\p{Cs}]/gu,
      (character) => `~${character.codePointAt(0)}~`,
    );
    return `"${plain}"${colon}`;
  });
}

function separated(groups: readonly Tokens[]): string[] {
  return groups.flatMap((group, index) => (index === 0 ? group : [',', ...group]));
}

/** Text that is nearly JSON: a valid object with a few characters cut out, duplicated or replaced. */
export const nearlyJson: fc.Arbitrary<string> = fc
  .tuple(
    spelledObject,
    fc.array(
      fc.record({
        at: fc.nat(),
        cut: fc.nat(2),
        put: fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', 'e', '.', ' '),
      }),
      { maxLength: 3 },
    ),
  )
  .map(([{ spaced }, edits]) =>
    edits.reduce((text, { at, cut, put }) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + cut);
    }, spaced),
  );
