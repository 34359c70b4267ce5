import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rebuildBooks } from '../../src/books/rebuild.ts';
import { dueDays } from '../../src/store/books/due-days.ts';
import { Statements } from '../../src/store/books/statements.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';
import { AT_ONCE, age, closeNext, csvOf, dayBefore, sha256 } from './support/closed-days.ts';
import { bookAll, rowsOf, wholeBooks } from './support/kept-books.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
});
afterAll(() => gateway.close());

const sql = (text: string, values: readonly unknown[] = []) =>
  onServer(gateway.databaseUrl, (client) => client.query(text, [...values]));
const find = (operatorId: string, day: string) =>
  new Statements(gateway.parts.database).find(operatorId, day);

describe('a day is closed (I12)', () => {
  it('with what was confirmed in it, and a digest of its lines', async () => {
    const [won, waiting, foreign] = [
      await placedBet(gateway, { amount: '10' }),
      await placedBet(gateway, { amount: '12.10' }),
      await placedBet(gateway, { amount: '7', operatorId: 'beta' }),
    ];
    await won.settle('20.50');
    for (const bet of [won, waiting]) await age(bet, 3);
    await age(foreign, 2);
    await bookAll(gateway);
    expect(await closeNext(gateway)).toEqual([`alpha ${dayBefore(3)}`, `beta ${dayBefore(2)}`]);
    const statement = await find('alpha', dayBefore(3));
    expect(statement).toMatchObject({
      operator: 'alpha',
      movements: 3,
      openCount: 0,
      totals: [
        {
          currency: 'USD',
          bets: 2,
          stakes: '22.1',
          payouts: '20.5',
          net: '1.6',
          openBets: 1,
          openStakes: '12.1',
        },
      ],
    });
    const csv = await csvOf(gateway, 'alpha', dayBefore(3));
    expect(sha256(csv)).toBe(statement?.sha256);
    expect(csv.split('\n')).toHaveLength(5);
    expect(csv).toContain(
      `${dayBefore(3)},${dayBefore(3)},${won.transactionId},USD,payout,20.5,false,`,
    );
    expect(csv).not.toContain(foreign.transactionId);
  });

  it('one after the other, quiet days with what is open over their ends', async () => {
    expect(await closeNext(gateway)).toEqual([`alpha ${dayBefore(2)}`, `beta ${dayBefore(1)}`]);
    expect(await find('alpha', dayBefore(2))).toMatchObject({
      movements: 0,
      totals: [{ currency: 'USD', bets: 0, openBets: 1, openStakes: '12.1' }],
    });
    // Today is still open.
    expect(await find('beta', dayBefore(0))).toBeUndefined();
  });

  it('and never changes: the database refuses', async () => {
    for (const text of [
      `UPDATE books_statements SET sha256 = 'x'`,
      'DELETE FROM books_statements',
      'TRUNCATE books_statements',
      'UPDATE books_movements SET amount = amount - 1',
      `DELETE FROM books_movements WHERE operator_id = 'alpha'`,
      'UPDATE books_days SET stakes = 0',
      `INSERT INTO books_days (day, operator_id, currency) VALUES ('${dayBefore(3)}', 'alpha', 'X')`,
      `INSERT INTO books_movements SELECT (jsonb_populate_record(m, '{"sequence": 99}')).*
         FROM books_movements m
        WHERE operator_id = 'alpha' AND day = '${dayBefore(3)}' AND sequence = 1`,
      // One leaves a closed day, one enters it.
      `UPDATE books_movements SET day = '${dayBefore(0)}' WHERE day = '${dayBefore(3)}'`,
      `WITH open AS (
         INSERT INTO books_days (day, operator_id, currency) VALUES ('${dayBefore(0)}', 'alpha', 'X')
         ON CONFLICT DO NOTHING RETURNING 1
       ) INSERT INTO books_days (day, operator_id, currency) VALUES ('${dayBefore(3)}', 'alpha', 'Y')`,
    ]) {
      await expect(sql(text), text).rejects.toThrow('a closed statement never changes');
    }
    const into = `UPDATE books_days SET day = '${dayBefore(3)}' WHERE currency = 'X'`;
    await sql(`INSERT INTO books_days (day, operator_id, currency)
               VALUES ('${dayBefore(0)}', 'alpha', 'X')`);
    await expect(sql(into)).rejects.toThrow('a closed statement never changes');
    await sql(`DELETE FROM books_days WHERE currency = 'X'`);
  });

  it('what comes later is booked into the open day, marked with its own, on a rebuild too', async () => {
    const before = await csvOf(gateway, 'alpha', dayBefore(3));
    const late = await placedBet(gateway, { amount: '3' });
    await age(late, 3);
    await bookAll(gateway);
    const [row] = await rowsOf(
      gateway,
      `SELECT day::text, belongs_to::text FROM books_movements WHERE transaction_id = $1`,
      [late.transactionId],
    );
    expect(row).toEqual({ day: dayBefore(1), belongs_to: dayBefore(3) });
    expect(await csvOf(gateway, 'alpha', dayBefore(3))).toBe(before);
    const rows = await wholeBooks(gateway);
    const options = { timeZone: 'UTC', log: () => undefined };
    for (const fromDay of [undefined, dayBefore(3), dayBefore(1)]) {
      const rebuilt = await rebuildBooks(gateway.databaseUrl, { ...options, fromDay });
      expect(rebuilt.changed).toBe(0);
      expect(await wholeBooks(gateway)).toEqual(rows);
    }
  });

  it('no rebuild makes another statement of it: it changes nothing and says which', async () => {
    const rows = await wholeBooks(gateway);
    const [first] = await rowsOf(
      gateway,
      `SELECT id::text, transaction_id AS bet FROM operations
        WHERE id = (SELECT min(operation_id) FROM attempts)`,
    );
    // The last one is in an open day: it is not what is to be found.
    const shift = (byMs: number) =>
      sql(
        `UPDATE attempts SET latency_ms = latency_ms + $2
          WHERE operation_id IN ($1, (SELECT max(operation_id) FROM attempts))`,
        [first?.id, byMs],
      );
    await shift(5);
    const options = { timeZone: 'UTC', fromDay: undefined, log: () => undefined };
    await expect(rebuildBooks(gateway.databaseUrl, options)).rejects.toThrow(
      `1 closed statement(s) would become others (alpha/${dayBefore(3)}), with the movements of ${first?.bet}: nothing`,
    );
    const other = rebuildBooks(gateway.databaseUrl, { ...options, timeZone: 'Europe/Berlin' });
    await expect(other).rejects.toThrow('the books are kept in UTC');
    expect(await wholeBooks(gateway)).toEqual(rows);
    await shift(-5);
  });

  it('also where it is the statement that was changed, past the triggers', async () => {
    const [closed] = await rowsOf(
      gateway,
      `SELECT sha256 FROM books_statements WHERE operator_id = 'alpha' AND day = '${dayBefore(3)}'`,
    );
    const change = (to: unknown) =>
      sql(`SET session_replication_role = replica; UPDATE books_statements SET sha256 = '${to}'
            WHERE operator_id = 'alpha' AND day = '${dayBefore(3)}'`);
    await change(sha256('another'));
    const options = { timeZone: 'UTC', fromDay: undefined, log: () => undefined };
    await expect(rebuildBooks(gateway.databaseUrl, options)).rejects.toThrow(
      `(alpha/${dayBefore(3)}), although the journal books the same movements (somebody has written past the triggers): nothing`,
    );
    await change(closed?.sha256);
    expect(await rebuildBooks(gateway.databaseUrl, options)).toMatchObject({ changed: 0 });
  });

  it('not while something of it is open, but at the latest after a limit, which lists it', async () => {
    const unknown = await placedBet(gateway, { amount: '5' });
    await age(unknown, 1);
    await bookAll(gateway);
    await sql(
      `UPDATE bets SET settlement = 'unknown', late_at = created_at WHERE transaction_id = $1`,
      [unknown.transactionId],
    );
    expect(await closeNext(gateway)).toEqual([]);
    expect(await closeNext(gateway, { ...AT_ONCE, closeAtLatestMinutes: 0 })).toEqual([
      `alpha ${dayBefore(1)}`,
    ]);
    expect(await find('alpha', dayBefore(1))).toMatchObject({
      openCount: 1,
      open: [{ transactionId: unknown.transactionId, why: 'of unknown outcome' }],
      totals: [{ unresolved: 1, bets: 2 }],
    });
  });

  it('not before everything tried on it is booked', async () => {
    const bet = await placedBet(gateway, { operatorId: 'beta' });
    await age(bet, 0);
    await sql(
      `UPDATE attempts SET started_at = date_trunc('day', started_at) - interval '1 minute'
        WHERE operation_id IN (SELECT id FROM operations WHERE transaction_id = $1)`,
      [bet.transactionId],
    );
    expect(await closeNext(gateway)).toEqual([]);
    await bookAll(gateway);
  });

  it('has 23 or 25 hours where the clocks change', async () => {
    const hours = async (day: string) => {
      await sql(`SET session_replication_role = replica; DELETE FROM books_statements;
        DELETE FROM books_days; INSERT INTO books_days (day, operator_id, currency)
        VALUES ('${day}', 'alpha', 'USD')`);
      const zone = { ...AT_ONCE, timeZone: 'Europe/Berlin', now: new Date() };
      const [due] = await dueDays(gateway.parts.database, zone);
      return ((due?.endsAt.getTime() ?? 0) - (due?.startsAt.getTime() ?? 0)) / 3_600_000;
    };
    const kept = await rowsOf(gateway, 'SELECT s::text AS row FROM books_statements s');
    const days = await rowsOf(gateway, 'SELECT d::text AS row FROM books_days d');
    expect(await hours('2026-03-29')).toBe(23);
    expect(await hours('2026-10-25')).toBe(25);
    expect(await hours('2026-10-26')).toBe(24);
    await sql('SET session_replication_role = replica; DELETE FROM books_days');
    const back = (table: string, rows: Record<string, unknown>[]) =>
      onServer(gateway.databaseUrl, async (client) => {
        await client.query('SET session_replication_role = replica');
        for (const { row } of rows) {
          await client.query(`INSERT INTO ${table} SELECT (($1::text)::${table}).*`, [row]);
        }
      });
    await back('books_statements', kept);
    await back('books_days', days);
  });
});

it('a rebuild goes through the closed days that it books again, and through no other (I12)', async () => {
  await placedBet(gateway, { amount: '4' });
  await bookAll(gateway);
  const pages = vi.spyOn(Statements.prototype, 'pages');
  const goneThrough = async (fromDay: string | undefined) => {
    pages.mockClear();
    await rebuildBooks(gateway.databaseUrl, { timeZone: 'UTC', fromDay, log: () => undefined });
    return pages.mock.calls.map(([operatorId, day]) => `${operatorId} ${day}`);
  };
  const all = await goneThrough(undefined);
  expect(all).toContain(`alpha ${dayBefore(3)}`);
  expect(all).toContain(`beta ${dayBefore(2)}`);
  // Nothing was booked on it.
  expect(all).not.toContain(`alpha ${dayBefore(2)}`);
  expect(await goneThrough(dayBefore(0))).toEqual([]);
  pages.mockRestore();
});
