import { randomBytes } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ColumnNames, readColumnNames } from '../../../src/books/reconciliation/columns.ts';
import { Incomparable } from '../../../src/books/reconciliation/incomparable.ts';
import { listBytes } from '../../../src/books/reconciliation/list-bytes.ts';
import { ListReader } from '../../../src/books/reconciliation/list-reader.ts';
import { LineSplitter } from '../../../src/lib/lines.ts';
import { within } from '../../fuzz/support/cost.ts';

interface Read {
  readonly rows: readonly (readonly [line: number, id: string])[];
  readonly unreadable: readonly (readonly [line: number, why: string])[];
}

function read(text: string | Buffer, names: ColumnNames = new Map()): Read {
  const [splitter, reader] = [new LineSplitter(), new ListReader(names)];
  const lines = [...splitter.take(Buffer.from(text)), ...splitter.end()];
  const all = [...lines.flatMap((line) => reader.take(line)), ...reader.end()];
  return {
    rows: all.flatMap((one) =>
      'row' in one ? [[one.row.line, one.row.transactionId] as const] : [],
    ),
    unreadable: all.flatMap((one) =>
      'unreadable' in one ? [[one.unreadable.line, one.unreadable.why] as const] : [],
    ),
  };
}

describe('a list as real exports write it', () => {
  it('may hold line ends within quotes, and is numbered by the first of its lines', () => {
    const text =
      'transactionId,note\na,"two\nlines, and ""quotes"""\nb,"three\r\n\r\nlines"\nc,x\n';
    expect(read(text)).toEqual({
      rows: [
        [2, 'a'],
        [4, 'b'],
        [7, 'c'],
      ],
      unreadable: [],
    });
  });

  it('loses one line to a quote that is never closed, wherever it stands', () => {
    const rest = Array.from({ length: 300 }, (_, at) => `id-${at},x`);
    for (const broken of ['"forgotten,x', 'for"gotten,x', 'forgotten,"x']) {
      for (const at of [0, 1, 150, 299, 300]) {
        const lines = ['transactionId,note', ...rest.slice(0, at), broken, ...rest.slice(at)];
        const { rows, unreadable } = read(lines.join('\n'));
        expect(rows).toHaveLength(300);
        expect(unreadable.map(([line]) => line)).toEqual([at + 2]);
      }
    }
  });

  it('loses one line to each of two forgotten quotes, not the lines between them', () => {
    const text = 'transactionId,note\n"a,x\nb,x\nc,x\n"d,x\ne,x\n';
    expect(read(text)).toMatchObject({
      rows: [
        [3, 'b'],
        [4, 'c'],
        [6, 'e'],
      ],
      unreadable: [
        [2, expect.anything()],
        [5, expect.anything()],
      ],
    });
  });

  it('loses one line to bytes that are no text, and one to a line without end', () => {
    const bytes = Buffer.concat([
      Buffer.from('transactionId\na\n'),
      Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.from(`${'x'.repeat(70_000)}\nb\n`),
      Buffer.from('a\u{0}b\nd\n'),
    ]);
    expect(read(bytes)).toEqual({
      rows: [
        [2, 'a'],
        [5, 'b'],
        [7, 'd'],
      ],
      unreadable: [
        [3, 'is not UTF-8 text'],
        [4, 'is longer than 65536 bytes'],
        [6, 'transactionId holds a control character'],
      ],
    });
  });

  it('has no transactionId that the journal could not have', () => {
    const ids = ['x'.repeat(200), 'x'.repeat(201), '\ud800'].map((transactionId) =>
      JSON.stringify({ transactionId }),
    );
    expect(read(ids.join('\n'))).toEqual({
      rows: [[1, 'x'.repeat(200)]],
      unreadable: [
        [2, 'transactionId is longer than 200 characters'],
        [3, 'transactionId holds a control character'],
      ],
    });
  });

  it('has the columns that it names, and says each in every line', () => {
    const json = [
      '{"transactionId":"a","stake":1.10}',
      '{"transactionId":"b"}',
      '{"stake":1}',
      '[]',
    ];
    expect(read(json.join('\n'))).toMatchObject({
      rows: [[1, 'a']],
      unreadable: [
        [2, 'stake is missing, or no text and no number'],
        [3, 'transactionId is missing, or no text and no number'],
        [4, expect.any(String)],
      ],
    });
    const names = readColumnNames('transactionId=Bet ID, payout: Win (net)');
    expect(read('Win (net);Bet ID\n;a\n1;b', names).rows).toHaveLength(2);
  });

  it.each([
    'bet_id',
    'transactionId',
    'transactionId=',
    'id=x',
    'stake=a,stake=b',
    'stake=a,payout=a',
  ])('names of columns such as %j are refused in words', (text) => {
    expect(() => readColumnNames(text)).toThrow(Incomparable);
  });

  it('costs its length and not its cube, however many blanks are in it (I7)', () => {
    within(1_000, () => {
      expect(() => readColumnNames(' '.repeat(3_000))).toThrow(Incomparable);
    });
  });

  it.each([
    `${'a,'.repeat(2_000)}transactionId\n`,
    `${'x'.repeat(100_000)}\n`,
    '{"a":1}\n',
    '{"transactionId":"a"',
    'sep=;\n',
  ])('that begins so is not compared: %.20j', (text) => {
    expect(() => read(text)).toThrow(Incomparable);
  });

  it('tells each of its lines once, whatever they are: as a bet, or as unreadable', () => {
    const cell = fc.string({ unit: fc.constantFrom(...'ab1",;\t \\') });
    const line = fc.array(cell, { minLength: 1, maxLength: 4 }).map((cells) => cells.join(','));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const { rows, unreadable } = read(['transactionId,stake', ...lines].join('\n'));
        const told = [...rows, ...unreadable].map(([number]) => number);
        expect(new Set(told).size).toBe(told.length);
        // A record may span several lines; every other non-empty line is reported.
        const hasQuotes = lines.some((one) => one.includes('"'));
        const filled = lines.filter((one) => one !== '').length;
        if (!hasQuotes) expect(told.length).toBe(filled);
        else expect(told.length).toBeLessThanOrEqual(filled);
      }),
    );
  });
});

describe('the bytes of a list', () => {
  const bytesOf = async (chunks: readonly Buffer[], bytesMax = 1_000_000) => {
    async function* source() {
      yield* chunks;
    }
    const pieces: Buffer[] = [];
    for await (const piece of listBytes(source(), bytesMax)) pieces.push(piece);
    return Buffer.concat(pieces);
  };
  const torn = (bytes: Buffer, size: number) =>
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );

  it('are unpacked where they are gzip, however they are torn, several members too', async () => {
    const text = Buffer.from(randomBytes(3_000).toString('hex'));
    for (const size of [1, 3, 1_000]) {
      expect(await bytesOf(torn(text, size))).toEqual(text);
      expect(await bytesOf(torn(gzipSync(text), size))).toEqual(text);
    }
    const members = Buffer.concat([gzipSync(text), gzipSync(text)]);
    expect(await bytesOf(torn(members, 500))).toEqual(gunzipSync(members));
  });

  it('are read only up to the limit, even if a small file unpacks to a large one', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'a'));
    expect(bomb.length).toBeLessThan(100_000);
    await expect(bytesOf([bomb])).rejects.toThrow(/larger than/);
    await expect(bytesOf([Buffer.alloc(2_000_000, 'a')])).rejects.toThrow(/larger than/);
  });

  it('of a gzip that was cut off anywhere are no list', async () => {
    const whole = gzipSync(randomBytes(2_000).toString('hex'));
    for (const length of [10, 100, whole.length - 9, whole.length - 1]) {
      await expect(bytesOf([whole.subarray(0, length)])).rejects.toThrow(/cut off or damaged/);
    }
  });
});

describe('a list of objects', () => {
  const lines = (...objects: object[]) => objects.map((one) => JSON.stringify(one)).join('\n');

  it('with a known member that its first line lacks is not compared without it: that line is unreadable', () => {
    const text = lines(
      { transactionId: 'a', stake: 1 },
      { transactionId: 'b', stake: 1, Pay_Out: 925 },
    );
    expect(read(text)).toEqual({
      rows: [[1, 'a']],
      unreadable: [
        [2, 'has payout, which the first line lacks: name the columns to compare by columns'],
      ],
    });
  });

  it('whose columns are all named is compared by these alone', () => {
    const text = lines({ id: 'a', stake: 1 }, { id: 'b', stake: 1, payout: 925 });
    expect(read(text, readColumnNames('transactionId=id,stake=stake')).unreadable).toEqual([]);
    expect(read(text, readColumnNames('transactionId=id')).unreadable).toHaveLength(1);
  });

  it('that lacks a member of its first line is unreadable there', () => {
    const text = lines({ transactionId: 'a', payout: 1 }, { transactionId: 'b' });
    expect(read(text).unreadable).toEqual([[2, 'payout is missing, or no text and no number']]);
  });
});

describe('the first line of a list', () => {
  it.each(['sep=\t', '"sep=\t"', 'SEP=\t', 'sep=\t\t\t', 'sep=\t,,,'])(
    'may state its separator: %j',
    (first) => {
      expect(read(`${first}\ntransactionId\tnote\na\tx,y\n`).rows).toEqual([[3, 'a']]);
    },
  );

  it.each(['"sep=;"', 'sep=;', 'sep=;;;;;', 'sep=; '])('may state a semicolon: %j', (first) => {
    expect(read(`${first}\r\ntransactionId;note\r\na;x\r\n`).rows).toEqual([[3, 'a']]);
  });

  it('that states a comma is read with it, though a spreadsheet added semicolons', () => {
    expect(read('sep=,;;;;\ntransactionId,note\na,x\n').rows).toEqual([[3, 'a']]);
  });

  it.each<[string, RegExp]>([
    ['sep=x\ntransactionId\n', /names no separator that is read/],
    ['transactionId,"note\nof it"\na,x\n', /a quote that is not closed/],
    ['transactionId,note\ra,x\rb,y\r', /carriage returns \(CR\) alone/],
    [`transactionId,note\r${'a,x\r'.repeat(30_000)}`, /carriage returns \(CR\) alone/],
  ])('is refused in words that name what was found: %#', (text, words) => {
    expect(() => read(text)).toThrow(words);
  });
});
