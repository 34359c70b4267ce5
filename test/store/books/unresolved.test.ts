import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeDueDays } from '../../../src/books/close-days.ts';
import { BooksTransaction } from '../../../src/store/books/books-transaction.ts';
import { countUnresolved } from '../../../src/store/books/unresolved.ts';
import { openBooks } from '../../books/support/booked-day.ts';

let books: Awaited<ReturnType<typeof openBooks>>;
beforeEach(async () => {
  books = await openBooks();
});
afterEach(() => books.close());

const count = (operatorId?: string) =>
  BooksTransaction.prepared(books.url, (transaction) =>
    countUnresolved(transaction, {
      timeZone: 'UTC',
      ...(operatorId && { operatorId, day: books.day }),
    }),
  );
const days = () =>
  books.query(`SELECT operator_id, currency, day::text, bets::int, unresolved::int FROM books_days
                ORDER BY 1, 2, 3`);
const version = async () =>
  (await books.query('SELECT version::int FROM books_cursor'))[0]?.version;

/** A bet with a promised result. */
const promise = (operatorId: string, currency: string, transactionId: string, daysAgo = 0) =>
  books.query(`
    WITH bet AS (
      INSERT INTO bets (transaction_id, operator_id, currency, generation, place, created_at)
      VALUES ('${transactionId}', '${operatorId}', '${currency}', 1, 'accepted',
              clock_timestamp() - make_interval(days => ${daysAgo})))
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                            transaction_time, next_attempt_at, dead_at)
    VALUES (nextval('operations_id_seq'), '${operatorId}', '${transactionId}', 'settle', 'pending', '',
            now(), now())`);

it('counts what is promised, also of days before, and begins a day for it (I12)', async () => {
  await books.book('alpha', 2);
  await promise('alpha', 'USD', 'one');
  await promise('alpha', 'USD', 'two', 3);
  await promise('beta', 'EUR', 'three', 3);
  await count();
  const day = { day: books.day, bets: 1 };
  expect(await days()).toEqual([
    { operator_id: 'alpha', currency: 'EUR', ...day, unresolved: 0 },
    { operator_id: 'alpha', currency: 'USD', ...day, unresolved: 2 },
    { operator_id: 'beta', currency: 'EUR', ...day, bets: 0, unresolved: 1 },
  ]);
  await books.query(`DELETE FROM deliveries WHERE transaction_id <> 'two'`);
  await count('beta');
  expect((await days()).map(({ unresolved }) => unresolved)).toEqual([0, 2, 0]);
  await count();
  expect((await days()).map(({ unresolved }) => unresolved)).toEqual([0, 1, 0]);
});

describe('a bet without an outcome', () => {
  const bet = (columns: string, values: string) =>
    books.query(`
      INSERT INTO bets (transaction_id, operator_id, currency, generation, ${columns})
      VALUES ('one', 'alpha', 'USD', 1, ${values})`);
  const delivery = async (operation: string, state: string) => {
    await promise('alpha', 'USD', 'one');
    await books.query(`UPDATE deliveries SET operation = '${operation}', state = '${state}'`);
  };

  it.each([
    ['a place that may have landed', () => bet('place', `'unknown'`)],
    ['a result that may have landed', () => bet('place, settlement', `'accepted', 'unknown'`)],
    ['a rollback under way', () => delivery('rollback', 'live')],
    ['a dead letter', () => delivery('settle', 'dead')],
  ])('is counted where it has %s (I12)', async (_what, make) => {
    await make();
    await count();
    expect(await days()).toMatchObject([{ operator_id: 'alpha', unresolved: 1 }]);
    await books.query('DELETE FROM deliveries');
    await books.query(`UPDATE bets SET place = 'accepted', settlement = 'none'`);
    await count();
    expect(await days()).toMatchObject([{ operator_id: 'alpha', unresolved: 0 }]);
  });

  it.each(['dead', 'pending'])('is not made by data that is %s: no money waits', async (state) => {
    await delivery('update', state);
    await count();
    expect(await days()).toEqual([]);
  });
});

it('locks the books only where something has changed, and goes on while others have them locked (I7)', async () => {
  await books.book('alpha', 2);
  await promise('alpha', 'USD', 'one');
  await count();
  const before = await version();
  await BooksTransaction.run(books.url, false, () => count());
  expect(await version()).toBe(Number(before) + 1);
});

it('counts for a day that is closed long after its end what its statement lists as open (I12)', async () => {
  const times = { timeZone: 'UTC', closeAfterMinutes: 0, closeAtLatestMinutes: 0 };
  await promise('alpha', 'USD', 'waits', 20);
  await books.query(`
    INSERT INTO books_days (day, operator_id, currency, bets, stakes)
    VALUES ((clock_timestamp() AT TIME ZONE 'UTC')::date - 20, 'alpha', 'USD', 1, 10)`);
  await books.query(`UPDATE deliveries SET created_at = created_at - interval '20 days'`);
  await closeDueDays(books.database, books.url, times);
  const closed = `SELECT open_count::int, totals->0->>'unresolved' AS unresolved FROM books_statements`;
  expect(await books.query(closed)).toEqual([{ open_count: 1, unresolved: '1' }]);
});
