import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arrayText, type SqlValue } from '../../../src/store/sql/sql-value.ts';
import { createDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';

describe('an array sent as text', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  async function read(type: string, values: readonly SqlValue[]): Promise<unknown> {
    const text = arrayText(values);
    const { rows } = await onServer(database.url, (client) =>
      client.query<{ list: unknown }>(`SELECT $1::${type} AS list`, [text]),
    );
    return rows[0]?.list;
  }

  it.each([
    ['text[]', ['a', '', ' b ', 'NULL', 'null', '{}', ',', '"', '\\', '\\"\n\t', 'ä€😀', null]],
    ['int[]', [0, -1, 2_147_483_647, null]],
    ['bigint[]', ['1', '9223372036854775807', null]],
    ['bool[]', [true, false, null]],
    ['bytea[]', [Buffer.from([0, 34, 92, 255]), Buffer.alloc(0), null]],
    ['timestamptz[]', [new Date('2026-11-22T08:00:00.123Z'), null]],
    ['text[]', []],
  ] as const)('comes back as it was (%s)', async (type, values) => {
    expect(await read(type, values)).toEqual(values);
  });

  it('comes back as it was, whatever its texts are (I9)', async () => {
    const text = fc.string({ unit: 'grapheme' }).filter((one) => !one.includes('\0'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text)), async (values) => {
        expect(await read('text[]', values)).toEqual(values);
      }),
      { numRuns: 200 },
    );
  });
});
