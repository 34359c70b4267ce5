import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkDays } from '../../src/books/check-days.ts';
import type { Runner } from '../../src/store/books/books-journal.ts';
import { DayChecks } from '../../src/store/books/day-checks.ts';
import { onServer } from '../support/server.ts';
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

  it('and tells what was found and what the movements add up to', async () => {
    await books.book('alpha', 5);
    await books.query(`UPDATE books_days SET stakes = stakes + 1 WHERE currency = 'USD'`);
    expect(await check('alpha')).toMatchObject({ wrong: 1 });
    expect(await violations()).toEqual([
      {
        subject: `alpha/USD/${books.day}`,
        operator_id: 'alpha',
        found: '2 3.50 0 0 0',
        expected: '2 2.50 0 0 0',
      },
    ]);
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

it('a stretch of a large day is read from an index, and nothing behind it (I7)', async () => {
  await books.book('alpha', 1);
  await books.query(`
    INSERT INTO books_movements
      SELECT 'more-' || n, 1, CASE n % 2 WHEN 0 THEN 'alpha' ELSE 'beta' END, player_id, currency, kind,
             amount, is_freebet, opens, open_stake, operation, operation_id, number, written_in,
             confirmed_at + make_interval(secs => n / 10), belongs_to, day
        FROM books_movements, generate_series(1, 20000) n;
    ANALYZE`);
  let explained: { text: string; values: readonly unknown[] } | undefined;
  const runner: Runner = {
    async run(statement, input) {
      if (statement.name === 'books-sum-stretch') {
        explained = { text: statement.text, values: statement.values(input) };
      }
      return await books.database.run(statement, input);
    },
  };
  const checks = new DayChecks(runner);
  const of = await checks.openDays('alpha');
  if (of === undefined) throw new Error('there is no open day');
  const first = await checks.sumStretch(
    of,
    { day: of.firstDay, confirmedAt: new Date(0), operationId: '0', sequence: 0 },
    1_000,
  );
  if (first.next === undefined) throw new Error('it ends there');
  await checks.sumStretch(of, first.next, 1_000);
  const plan = await onServer(books.url, async (client) => {
    const { text = '', values = [] } = explained ?? {};
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE) ${text}`, [
      ...values,
    ]);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
  expect(plan).toMatch(
    /Index Scan using books_movements_operator_id_day_confirmed_at_operation_id_s_idx .*rows=1000/,
  );
  expect(plan).not.toMatch(/Seq Scan on books_movements|Rows Removed by Filter: \d{3}/);
});
