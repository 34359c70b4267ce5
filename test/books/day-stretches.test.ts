import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkDays } from '../../src/books/check-days.ts';
import type { Runner } from '../../src/store/books/books-journal.ts';
import { DayChecks } from '../../src/store/books/day-checks.ts';
import { openBooks } from './support/booked-day.ts';

let books: Awaited<ReturnType<typeof openBooks>>;
beforeEach(async () => {
  books = await openBooks();
});
afterEach(() => books.close());

const violations = () =>
  books.query('SELECT subject, operator_id, found, expected FROM books_violations ORDER BY 1');

/**
 * Checks three movements at a time.
 * @param between called before the second stretch and each later one
 */
async function check(
  operatorId: string,
  between: (stretch: number) => Promise<void> = async () => undefined,
) {
  let stretches = 0;
  const runner: Runner = {
    async run(statement, input) {
      if (statement.name === 'books-sum-stretch') {
        stretches += 1;
        if (stretches > 1) await between(stretches);
      }
      return await books.database.run(statement, input);
    },
  };
  const options = { isStopping: () => false, stretchRows: 3 };
  const wrong = await checkDays(new DayChecks(runner), operatorId, options);
  return { wrong, stretches };
}

describe('the sums of an operator’s open days are checked in stretches (I12)', () => {
  it('of so many movements at most, over days and currencies, and of one operator', async () => {
    await books.book('alpha', 7);
    await books.book('beta', 2);
    await books.book('alpha', 3);
    expect(await check('alpha')).toEqual({ wrong: 0, stretches: 4 });
    expect(await check('beta')).toEqual({ wrong: 0, stretches: 1 });
    expect(await check('nobody')).toEqual({ wrong: 0, stretches: 0 });
  });

  it('while others are booked, before and behind what was summed up', async () => {
    await books.book('alpha', 10, 500);
    const { wrong, stretches } = await check('alpha', async () => {
      await books.book('alpha', 1, 100);
      await books.book('alpha', 1, 900);
    });
    expect(wrong).toBe(0);
    // It came across movements that were booked behind it, did not count them, and had no reason to start again.
    expect(stretches).toBeGreaterThan(4);
    expect(stretches).toBeLessThan(8);
    expect(await check('alpha')).toMatchObject({ wrong: 0 });
  });

  it.each([
    ['in the first stretch', `transaction_id = 'bet-1'`],
    ['in the last', `transaction_id = 'bet-10'`],
  ])('and finds an amount one cent off %s, until it is mended', async (_, which) => {
    await books.book('alpha', 10);
    await books.query(`UPDATE books_movements SET amount = -1.24 WHERE ${which}`);
    const booking = async () => books.book('alpha', 1);
    const { wrong, stretches } = await check('alpha', booking);
    expect(wrong).toBe(1);
    // It was summed up again before it was recorded.
    expect(stretches).toBeGreaterThan(7);
    const currency = which.includes('10') ? 'USD' : 'EUR';
    expect(await violations()).toMatchObject([
      { subject: `alpha/${currency}/${books.day}`, operator_id: 'alpha' },
    ]);
    await books.query(`UPDATE books_movements SET amount = -1.25 WHERE ${which}`);
    expect(await check('alpha')).toMatchObject({ wrong: 0 });
    expect(await violations()).toEqual([]);
  });

  it.each([
    ['a movement that is gone', `DELETE FROM books_movements WHERE transaction_id = 'bet-7'`],
    ['every movement that is gone', `DELETE FROM books_movements WHERE currency = 'EUR'`],
    [
      'a movement that nobody has booked, where the books have not come to',
      `INSERT INTO books_movements
         SELECT (jsonb_populate_record(m, '{"transaction_id": "planted", "written_in": "999999"}')).*
           FROM books_movements m WHERE transaction_id = 'bet-7'`,
    ],
  ])('and finds %s', async (_, damage) => {
    await books.book('alpha', 10);
    await books.query(damage);
    expect(await check('alpha')).toMatchObject({ wrong: 1 });
    expect(await violations()).toMatchObject([{ subject: `alpha/EUR/${books.day}` }]);
  });

  it('and tells nothing of movements that a rebuild has replaced in between', async () => {
    await books.book('alpha', 10);
    await check('alpha', async (stretch) => {
      if (stretch > 2) return;
      await books.query(`
        WITH other AS (UPDATE books_movements SET amount = amount - 1 WHERE transaction_id = 'bet-9')
        UPDATE books_days SET stakes = stakes + 1 WHERE currency = 'EUR'`);
    });
    expect(await violations()).toEqual([]);
    expect(await check('alpha')).toEqual({ wrong: 0, stretches: 4 });
  });

  it('and gives up between two of them where its process ends', async () => {
    await books.book('alpha', 10);
    await books.query(`UPDATE books_days SET stakes = stakes + 1`);
    const options = { isStopping: () => true, stretchRows: 3 };
    expect(await checkDays(new DayChecks(books.database), 'alpha', options)).toBe(0);
    expect(await violations()).toEqual([]);
  });
});
