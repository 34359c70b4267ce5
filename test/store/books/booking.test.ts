import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BookedMovement } from '../../../src/store/books/book-statement.ts';
import { BooksJournal } from '../../../src/store/books/books-journal.ts';
import { Database } from '../../../src/store/database.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';

let testDatabase: TestDatabase;
let database: Database;
let journal: BooksJournal;
let operations = 0;
beforeEach(async () => {
  testDatabase = await createDatabase();
  const { url } = testDatabase;
  database = new Database({ url, connectionsMax: 2, onIdleError: () => undefined });
  journal = new BooksJournal(database);
});
afterEach(async () => {
  await database.close();
  await testDatabase.drop();
});

/** A stake of 1.25 that a wallet confirmed on a day of November. */
function stakeOn(dayOfMonth: number): BookedMovement {
  operations += 1;
  const day = `2026-11-0${dayOfMonth}`;
  return {
    transactionId: `bet-${operations}`,
    sequence: 1,
    operatorId: 'alpha',
    playerId: '1',
    currency: 'EUR',
    kind: 'stake',
    amount: '-1.25',
    isFreebet: false,
    opens: 1,
    openStake: '1.25',
    operation: 'place',
    at: { writtenIn: '5', operationId: String(operations), number: 1 },
    confirmedAt: new Date(`${day}T12:00:00Z`),
    belongsTo: day,
    day,
  };
}

async function book(version: string, movements: readonly BookedMovement[]): Promise<boolean> {
  const to = movements.at(-1)?.at;
  if (to === undefined) throw new Error('nothing to book');
  return await journal.book({ version, to, timeZone: 'UTC', movements });
}

const rows = (text: string) =>
  onServer(
    testDatabase.url,
    async (client) => (await client.query({ text, rowMode: 'array' })).rows,
  );

it('carries what is open on to each later day, in whatever order days are booked (I12)', async () => {
  for (const days of [[1, 3], [1, 2], [5]]) {
    const { version } = await journal.cursor();
    expect(await book(version, days.map(stakeOn))).toBe(true);
  }
  expect(
    await rows(`SELECT extract(day FROM day)::int, bets::int, stakes::float8, open_bets::int,
                       open_stakes::float8 FROM books_days ORDER BY day`),
  ).toEqual([
    [1, 2, 2.5, 2, 2.5],
    [2, 1, 1.25, 3, 3.75],
    [3, 1, 1.25, 4, 5],
    [5, 1, 1.25, 5, 6.25],
  ]);
});

it('books no movement where another worker has booked since the books were read (I12)', async () => {
  const { version } = await journal.cursor();
  expect(await book(version, [stakeOn(1)])).toBe(true);
  expect(await book(version, [stakeOn(1)])).toBe(false);
  expect(await rows('SELECT count(*)::int FROM books_movements')).toEqual([[1]]);
  expect(await rows('SELECT bets::int, open_bets::int FROM books_days')).toEqual([[1, 1]]);
});
