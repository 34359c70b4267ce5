import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkDays } from '../../../src/books/check-days.ts';
import { DayChecks } from '../../../src/store/books/day-checks.ts';
import { openBooks } from '../../books/support/booked-day.ts';

const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

let books: Awaited<ReturnType<typeof openBooks>>;
beforeEach(async () => {
  books = await openBooks(YESTERDAY);
});
afterEach(() => books.close());

const check = () => checkDays(new DayChecks(books.database), 'alpha', { isStopping: () => false });
const violations = () => books.query('SELECT rule, subject FROM books_violations ORDER BY rule');

it('yesterday is checked until it is closed, and stays violated until it is mended (I12)', async () => {
  await books.book('alpha', 2);
  await books.query(`UPDATE books_days SET stakes = stakes + 1 WHERE currency = 'EUR'`);
  expect(await new DayChecks(books.database).operators()).toEqual(['alpha']);
  const found = [{ rule: 'day', subject: expect.stringContaining(YESTERDAY) }];
  for (let looks = 0; looks < 3; looks += 1) {
    expect(await check()).toBe(1);
    expect(await violations()).toEqual(found);
  }
  await books.query(`UPDATE books_days SET stakes = stakes - 1 WHERE currency = 'EUR'`);
  expect(await check()).toBe(0);
  expect(await violations()).toEqual([]);
});
