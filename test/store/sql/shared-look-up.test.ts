import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { sharedLookUp } from '../../../src/store/sql/shared-look-up.ts';
import { statement } from '../../../src/store/sql/statement.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

/** Rows with numbers as keys; row 13 is of a kind that this release cannot read. */
const NUMBERS = statement(
  'numbers',
  { keys: ['text[]', (keys: readonly string[]) => keys] },
  `SELECT n::text AS key, CASE WHEN n = 13 THEN 'odd' ELSE 'even' END AS kind, :keys AS keys
     FROM generate_series(1, 20) AS n WHERE n::text = ANY (:keys)`,
  (row) => ({
    key: row.text('key'),
    kind: row.oneOf('kind', ['even']),
    asked: row.texts('keys').length,
  }),
);

let server: TestDatabase;
let database: Database;
beforeAll(async () => {
  server = await createDatabase();
  database = new Database({ url: server.url, connectionsMax: 4, onIdleError: () => undefined });
});
afterAll(async () => {
  await database.close();
  await server.drop();
});

const lookUp = () => sharedLookUp(database, NUMBERS, ({ key }) => key);

describe('rows that are looked up at the same moment', () => {
  it('share a statement, and everybody gets the row of their own key', async () => {
    const find = lookUp();
    const found = await Promise.all(['7', '3', '7', '99'].map((key) => find(key)));
    expect(found).toEqual([
      { key: '7', kind: 'even', asked: 4 },
      { key: '3', kind: 'even', asked: 4 },
      { key: '7', kind: 'even', asked: 4 },
      undefined,
    ]);
  });

  it('do not fail for the sake of one that this release cannot read (I7)', async () => {
    const find = lookUp();
    const looked = await Promise.allSettled(['4', '13', '5'].map((key) => find(key)));
    expect(looked.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
