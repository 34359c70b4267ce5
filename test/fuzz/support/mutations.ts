import fc from 'fast-check';

/** Bytes that any parser may stumble over. */
const FOREIGN: readonly Buffer[] = [
  ...['\0', '\r\n', '\n', '\t', ' ', '"', '\\', "'", '{', '}', '[', ']', ',', ':', ';', '-', '.'],
  ...['\\u0000', '\\ud800', '\u{feff}', '\u2028', '\u202e', '\u{1F3B2}', '%00', '%zz', '../'],
  ...['1e400', '-0', '9007199254740993', '0x10', 'NaN', 'null', 'true', '__proto__', 'constructor'],
].map((text) => Buffer.from(text));

const INVALID_UTF8: readonly Buffer[] = ['ff', 'c080', 'eda080', 'f4908080', 'e282'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

interface Edit {
  readonly at: number;
  readonly cut: number;
  readonly put: Buffer;
}

/** One of the samples with one to four places cut, duplicated, or replaced by foreign bytes. */
export function mutated(
  samples: readonly (string | Buffer)[],
  words: readonly string[] = [],
): fc.Arbitrary<Buffer> {
  const all = samples.map((sample) => Buffer.from(sample));
  const own = words.map((word) => Buffer.from(word));
  const piece = fc
    .tuple(fc.constantFrom(...all), fc.nat(), fc.nat(40))
    .map(([sample, from, length]) => {
      const start = from % (sample.length + 1);
      return sample.subarray(start, start + length);
    });
  const put = fc.oneof(
    fc.constant(Buffer.alloc(0)),
    fc.constantFrom(...FOREIGN, ...INVALID_UTF8, ...own),
    fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
    piece,
    fc.tuple(piece, fc.integer({ min: 2, max: 200 })).map(([one, times]) => repeated(one, times)),
  );
  const edit = fc.record({ at: fc.nat(), cut: fc.oneof(fc.nat(3), fc.nat(60)), put });
  return fc
    .tuple(fc.constantFrom(...all), fc.array(edit, { minLength: 1, maxLength: 4 }))
    .map(([sample, edits]) => edits.reduce(edited, sample));
}

function edited(bytes: Buffer, { at, cut, put }: Edit): Buffer {
  const place = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, place), put, bytes.subarray(place + cut)]);
}

function repeated(bytes: Buffer, times: number): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => bytes));
}

/** Values that a member hardly ever has, as raw JSON: our own parsers cannot have written them. */
const ODD_VALUES: readonly string[] = [
  ...['null', 'true', 'false', '""', '" "', '"\\u0000"', '"\\ud800"', '"\\u202e"', '"x"'],
  ...['0', '-0', '-1', '1', '2', '3', '4', '5', '6', '1.5', '1e400', '-1e400', '1e-400', '1E+2'],
  ...['9007199254740993', `1${'0'.repeat(400)}`, `0.${'0'.repeat(400)}1`, '1e999999999999'],
  ...['[]', '{}', '[[]]', '[null]', '[1,2,3]', '{"a":1}', '{"__proto__":{"x":1}}', '[{}]'],
  ...[`"${'x'.repeat(300)}"`, `"${'\u{1F3B2}'.repeat(64)}"`, '"12.10"', '"1"', '"toString"'],
  ...[nested('[', ']', 62), nested('[', ']', 80), nested('{"a":', '}', 80)],
  ...[`[${'{},'.repeat(500)}{}]`, `[${'1,'.repeat(2_000)}1]`],
];

/** A message with one member changed; `name` is undefined if nothing was left to change. */
export interface OddMessage {
  readonly name: string;
  readonly body: string;
}

/** A message with one of its members odd, left out or duplicated, or with a foreign member added. */
export function oddMember(message: Readonly<Record<string, unknown>>): fc.Arbitrary<OddMessage> {
  const names = [...Object.keys(message), 'stranger', '__proto__', 'constructor', 'toString'];
  return fc
    .record({
      name: fc.constantFrom(...names),
      raw: fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...ODD_VALUES) },
        { weight: 2, arbitrary: fc.json({ maxDepth: 3 }) },
        { weight: 1, arbitrary: fc.constant(undefined) },
      ),
      twice: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
    })
    .map(({ name, raw, twice }) => {
      const kept = Object.entries(message).filter(([other]) => twice || other !== name);
      const members = kept.map(([other, value]) => memberText(other, JSON.stringify(value)));
      if (raw !== undefined) members.push(memberText(name, raw));
      return { name, body: `{${members.join(',')}}` };
    });
}

function memberText(name: string, raw: string): string {
  return `${JSON.stringify(name)}:${raw}`;
}

function nested(open: string, close: string, depth: number): string {
  return `${open.repeat(depth)}${open === '[' ? '' : '1'}${close.repeat(depth)}`;
}
