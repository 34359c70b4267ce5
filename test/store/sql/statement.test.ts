import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/store/database.ts';
import {
  batchStatement,
  Columns,
  noRow,
  type Parameters,
  statement,
  UnreadableRow,
} from '../../../src/store/sql/statement.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { openPlainDatabase } from '../../support/journal.ts';

interface Sum {
  readonly first: number;
  readonly second: number;
}

const SUM: Parameters<Sum> = {
  first: ['int', ({ first }) => first],
  second: ['int', ({ second }) => second],
};

let server: TestDatabase;
let database: Database;
beforeAll(async () => {
  server = await createDatabase();
  database = openPlainDatabase(server.url);
});
afterAll(async () => {
  await database.close();
  await server.drop();
});

describe('a statement', () => {
  it('gives every parameter its place and its type, however often and in what order it is named', () => {
    const made = statement('sum', SUM, 'SELECT :second - :first, :second', noRow);
    expect(made.text).toBe('SELECT $2::int - $1::int, $2::int');
    expect(made.values({ first: 1, second: 2 })).toEqual([1, 2]);
  });

  it('tells a name from a longer one that begins alike', () => {
    const made = statement(
      'sum',
      { ...SUM, first_over: ['text', () => 'x'] },
      ':first_over :first :second',
      noRow,
    );
    expect(made.text).toBe('$3::text $1::int $2::int');
  });

  it('leaves casts and the bounds of a slice as they are', () => {
    const text = "SELECT a::text, (b)[2:], c[:3], '{}'::bigint[], :first + :second";
    expect(statement('sum', SUM, text, noRow).text).toBe(
      "SELECT a::text, (b)[2:], c[:3], '{}'::bigint[], $1::int + $2::int",
    );
  });

  it('is refused where its text names a parameter that is not given', () => {
    expect(() => statement('sum', SUM, ':first :second :middle', noRow)).toThrow(
      'sum: no parameter middle',
    );
    expect(() => statement('sum', {}, 'SELECT :constructor', noRow)).toThrow(
      'sum: no parameter constructor',
    );
  });

  it('is refused where a parameter is given that its text does not name', () => {
    expect(() => statement('sum', SUM, 'SELECT :first', noRow)).toThrow('sum: unused second');
  });

  it('brings values to PostgreSQL and its rows back, null and odd bytes among them', async () => {
    const odd = [Buffer.of(0, 255, 92, 34), Buffer.alloc(0)];
    const echo = statement(
      'echo',
      {
        note: ['text', ({ note }) => note],
        bodies: ['bytea[]', ({ bodies }) => bodies],
      } satisfies Parameters<{ readonly note: string | null; readonly bodies: readonly Buffer[] }>,
      'SELECT :note AS note, body FROM unnest(:bodies) AS body',
      (row) => ({ note: row.textOrNull('note'), body: row.bytes('body') }),
    );
    expect(await database.run(echo, { note: null, bodies: odd })).toEqual(
      odd.map((body) => ({ note: undefined, body })),
    );
    const [first] = await database.run(echo, { note: `';"\\:first`, bodies: odd });
    expect(first?.note).toBe(`';"\\:first`);
  });
});

describe('a statement over a batch', () => {
  const SUMS = batchStatement('sums', SUM, 'SELECT i.first + i.second AS sum FROM :input', (row) =>
    row.int('sum'),
  );
  const batch = [
    { first: 1, second: 2 },
    { first: 3, second: 4 },
  ];

  it('makes one array of each parameter', () => {
    expect(SUMS.text).toBe(
      `SELECT i.first + i.second AS sum FROM (SELECT u.* FROM (SELECT unnest($1::int[]) AS first, unnest($2::int[]) AS second) AS u) AS i`,
    );
    expect(SUMS.values(batch)).toEqual(['{1,3}', '{2,4}']);
  });

  it('gives a row for each input, and none for none', async () => {
    expect(await database.run(SUMS, batch)).toEqual([3, 7]);
    expect(await database.run(SUMS, [])).toEqual([]);
  });

  it('sends bytes in one piece, and gives each row its own', async () => {
    const given: Parameters<{ readonly id: number; readonly bytes: Buffer | null }> = {
      bytes: ['bytea', ({ bytes }) => bytes],
      id: ['int', ({ id }) => id],
    };
    const bytes = batchStatement(
      'bytes',
      given,
      'SELECT i.bytes FROM :input ORDER BY i.id',
      (row) => row.bytesOrNull('bytes'),
    );
    const all = [Buffer.of(0, 92, 34), null, Buffer.of(), Buffer.of(255, 120), null];
    const inputs = all.map((one, id) => ({ id, bytes: one }));
    expect(bytes.values(inputs).at(-1)).toEqual(Buffer.of(0, 92, 34, 255, 120));
    expect(await database.run(bytes, inputs)).toEqual(all.map((one) => one ?? undefined));
    expect(await database.run(bytes, [])).toEqual([]);
  });

  it('sends times to the millisecond', async () => {
    const given: Parameters<Date | null> = { at: ['timestamptz', (at) => at] };
    const times = batchStatement('times', given, 'SELECT i.at FROM :input', (row) =>
      row.isNull('at') ? null : row.date('at'),
    );
    const all = [new Date('2026-11-29T23:59:59.999Z'), null, new Date(1), new Date(-1_001)];
    expect(await database.run(times, all)).toEqual(all);
  });

  it('is refused where it does not read its input', () => {
    expect(() => batchStatement('sums', SUM, 'SELECT 1', noRow)).toThrow('sums: reads no :input');
  });
});

describe('the columns of a row', () => {
  const date = new Date(0);
  const row = new Columns({
    text: 'a',
    number: 1,
    flag: false,
    date,
    bytes: Buffer.of(1),
    nothing: null,
    texts: ['a', 'b'],
    holed: ['a', null],
    rows: [{ id: '1' }],
    odd: [1],
  });

  it('are read as what they are', () => {
    expect([row.text('text'), row.textOrNull('text')]).toEqual(['a', 'a']);
    expect([row.int('number'), row.intOrNull('number')]).toEqual([1, 1]);
    expect([row.bool('flag'), row.date('date')]).toEqual([false, date]);
    expect([row.bytes('bytes'), row.bytesOrNull('bytes')]).toEqual([Buffer.of(1), Buffer.of(1)]);
    expect([row.oneOf('text', ['b', 'a']), row.oneOfOrNull('text', ['a'])]).toEqual(['a', 'a']);
    expect(row.texts('texts')).toEqual(['a', 'b']);
    expect(row.rowsOrNull('rows').map((inner) => inner.text('id'))).toEqual(['1']);
  });

  it('are undefined where null is allowed, and no list is an empty one', () => {
    expect(row.textOrNull('nothing')).toBeUndefined();
    expect(row.intOrNull('nothing')).toBeUndefined();
    expect(row.bytesOrNull('nothing')).toBeUndefined();
    expect(row.oneOfOrNull('nothing', ['a'])).toBeUndefined();
    expect(row.rowsOrNull('nothing')).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    ['a number for a text', () => row.text('number')],
    ['a text for a number', () => row.int('text')],
    ['a text for true or false', () => row.bool('text')],
    ['a text for a time', () => row.date('text')],
    ['a text for bytes', () => row.bytes('text')],
    ['a value that this release does not know', () => row.oneOf('text', ['b'])],
    ['the same where null is allowed', () => row.oneOfOrNull('text', ['b'])],
    ['null where it is not allowed', () => row.text('nothing')],
    ['a list with a hole', () => row.texts('holed')],
    ['no list at all', () => row.texts('text')],
    ['a list of other things than rows', () => row.rowsOrNull('odd')],
    ['a column that is not there', () => row.text('absent')],
    ['a column that is not there, though null is allowed', () => row.textOrNull('absent')],
    ['a name that every object has', () => row.textOrNull('constructor')],
  ])('refuse %s', (_, read) => {
    expect(read).toThrow(UnreadableRow);
  });
});
