import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkDays } from '../../src/books/check-days.ts';
import { keepBooks } from '../../src/books/keep-books.ts';
import { rebuildBooks } from '../../src/books/rebuild.ts';
import { addAmounts } from '../../src/domain/amount.ts';
import { BooksJournal } from '../../src/store/books/books-journal.ts';
import { BooksChecks } from '../../src/store/books/checks.ts';
import { DayChecks } from '../../src/store/books/day-checks.ts';
import { netOf } from '../../tools/simulator/wallet/ledger.ts';
import * as bets from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';
import {
  bookAll,
  bookedNet,
  bookReadable,
  movementsOfBet,
  rowsOf,
  wholeBooks,
} from './support/kept-books.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    operators: { alpha: { settle: { onFailure: 'queue' } }, beta: {} },
    gateway: { delivery: { minBackoffMs: 20, maxBackoffMs: 40 } },
  });
});
afterAll(() => gateway.close());

/** A bet of 10 by default. */
const placedBet = (at: TestGateway, options: bets.BetOptions = {}) =>
  bets.placedBet(at, { amount: '10', ...options });
const unplacedBet = (at: TestGateway, options: bets.BetOptions = {}) =>
  bets.unplacedBet(at, { amount: '10', ...options });

const rebuild = () =>
  rebuildBooks(gateway.databaseUrl, { timeZone: 'UTC', fromDay: undefined, log: () => undefined });
const today = () => new Date().toISOString().slice(0, 10);

describe('the books follow what wallets confirm (I12)', () => {
  it('books a bet’s life: place, settle, resettle, unsettle, settle, rollback', async () => {
    const bet = await placedBet(gateway);
    await bet.settle('20.50');
    await bet.settle('5');
    await bet.update('1.4');
    await bet.unsettle();
    await bet.settle('7');
    await bet.rollback();
    await bookAll(gateway);
    expect(await movementsOfBet(gateway, bet.transactionId)).toEqual([
      'stake -10 1',
      'payout 20.5 -1',
      'payout_reversal -15.5 0',
      'payout_reversal -5 1',
      'payout 7 -1',
      'payout_reversal -7 0',
      'stake_return 10 0',
    ]);
  });

  it('books nothing of what no wallet confirmed, and what one confirmed late once', async () => {
    const declined = await unplacedBet(gateway);
    gateway.wallet('alpha').misbehave(
      'place',
      { kind: 'code', code: 7 },
      {
        transactionId: declined.transactionId,
      },
    );
    await declined.place();
    const cut = await placedBet(gateway);
    const over = gateway.wallet('alpha').misbehave(
      'rollback',
      { kind: 'reset' },
      {
        transactionId: cut.transactionId,
      },
    );
    expect((await cut.rollback()).status).toBe(200);
    await bookAll(gateway);
    expect(await movementsOfBet(gateway, declined.transactionId)).toEqual([]);
    expect(await movementsOfBet(gateway, cut.transactionId)).toEqual(['stake -10 1']);
    over();
    const delivered = () => cut.deliveries().then((rows) => rows.map(({ state }) => state));
    await expect.poll(delivered).toEqual(['delivered']);
    await cut.rollback();
    await bookAll(gateway);
    expect(await movementsOfBet(gateway, cut.transactionId)).toEqual([
      'stake -10 1',
      'stake_return 10 -1',
    ]);
  });

  it('keeps a freebet apart, and each operator and currency', async () => {
    const freebet = await unplacedBet(gateway, { operatorId: 'beta' });
    await freebet.place({ bonusId: '7' });
    await freebet.settle('3');
    const paid = await placedBet(gateway, { operatorId: 'beta' });
    await bookAll(gateway);
    const [day] = await rowsOf(
      gateway,
      `SELECT bets::int, stakes::text, freebet_stakes::text, payouts::text, open_bets::int,
              open_stakes::text FROM books_days WHERE operator_id = 'beta'`,
    );
    expect(day).toEqual({
      bets: 2,
      stakes: '10',
      freebet_stakes: '10',
      payouts: '3',
      open_bets: 1,
      open_stakes: '10',
    });
    expect(await movementsOfBet(gateway, paid.transactionId)).toEqual(['stake -10 1']);
  });

  it('gives the same rows again on a rebuild, in batches of any size', async () => {
    const before = await wholeBooks(gateway);
    const days = await rowsOf(gateway, 'TABLE books_days');
    expect(before.length).toBeGreaterThan(8);
    expect(await rebuild()).toMatchObject({ before: before.length, changed: 0 });
    expect(await wholeBooks(gateway)).toEqual(before);
    expect(await rowsOf(gateway, 'TABLE books_days')).toEqual(days);
    await onServer(gateway.databaseUrl, (client) =>
      client.query(`TRUNCATE books_movements, books_days;
        UPDATE books_cursor SET written_in = '0', operation_id = 0, number = 0, version = version + 1`),
    );
    await bookAll(gateway, 1);
    expect(await wholeBooks(gateway)).toEqual(before);
    const from = await rebuildBooks(gateway.databaseUrl, {
      timeZone: 'UTC',
      fromDay: today(),
      log: () => undefined,
    });
    expect(from).toMatchObject({ after: before.length, changed: 0 });
  });

  it('never passes a transaction in flight, however long it takes', async () => {
    const bet = await placedBet(gateway);
    await bookAll(gateway);
    await onServer(gateway.databaseUrl, async (client) => {
      // Like a process that stopped after writing an outcome and before its commit.
      await client.query('BEGIN');
      await client.query('SELECT pg_current_xact_id()');
      await bet.settle('20');
      expect(await bookReadable(gateway)).toBe(0);
      await client.query('COMMIT');
    });
    expect(await bookAll(gateway)).toBe(1);
    expect(await movementsOfBet(gateway, bet.transactionId)).toEqual([
      'stake -10 1',
      'payout 20 -1',
    ]);
  });

  it('books everything once, however many workers book at once', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => placedBet(gateway)));
    const booked = await Promise.all([1, 3, 7, 1_000].map((size) => bookAll(gateway, size)));
    expect(booked.reduce((sum, count) => sum + count, 0)).toBe(12);
    for (const { transactionId } of all) {
      expect(await movementsOfBet(gateway, transactionId)).toEqual(['stake -10 1']);
    }
  });

  it('writes nothing where another worker has booked since it read', async () => {
    await placedBet(gateway);
    const journal = new BooksJournal(gateway.parts.database);
    const { version, at } = await journal.cursor();
    expect(await bookAll(gateway)).toBe(1);
    const late = { version, to: at, timeZone: 'UTC', movements: [] };
    expect(await journal.book(late)).toBe(false);
  });

  it('keeps to the time zone that it began with, whatever is configured later (I12)', async () => {
    await placedBet(gateway);
    await bookAll(gateway);
    await placedBet(gateway);
    const journal = new BooksJournal(gateway.parts.database);
    const bookedLater = async () => {
      const kept = await keepBooks(journal, 'Pacific/Kiritimati');
      return kept.kind === 'overtaken' ? 0 : kept.movements.length;
    };
    await expect.poll(bookedLater).toBe(1);
    expect(await journal.cursor()).toMatchObject({ timeZone: 'UTC' });
  });

  it('goes on after an amount that nobody can add up, and says so', async () => {
    const bet = await placedBet(gateway, { amount: '0.5' });
    await onServer(gateway.databaseUrl, (client) =>
      client.query(`UPDATE bets SET amount = '1e-500' WHERE transaction_id = $1`, [
        bet.transactionId,
      ]),
    );
    const other = await placedBet(gateway);
    await bookAll(gateway);
    expect(await movementsOfBet(gateway, bet.transactionId)).toEqual([]);
    expect(await movementsOfBet(gateway, other.transactionId)).toHaveLength(1);
    const found = await rowsOf(gateway, `SELECT rule FROM books_violations WHERE subject = $1`, [
      bet.transactionId,
    ]);
    expect(found).toEqual([{ rule: 'amount' }]);
    await onServer(gateway.databaseUrl, (client) =>
      client.query(
        `WITH bet AS (UPDATE bets SET amount = '0.5' WHERE transaction_id = $1)
         DELETE FROM books_violations WHERE subject = $1`,
        [bet.transactionId],
      ),
    );
    await rebuild();
    expect(await movementsOfBet(gateway, bet.transactionId)).toEqual(['stake -0.5 1']);
  });

  it('agrees with what the wallets hold, and the checker finds nothing', async () => {
    await bookAll(gateway);
    for (const operatorId of ['alpha', 'beta']) {
      const held = [...gateway.wallet(operatorId).bets.values()].reduce(
        (sum, bet) => addAmounts(sum, netOf(bet)),
        '0',
      );
      expect(await bookedNet(gateway, operatorId, 'USD')).toBe(held);
    }
    expect(await checkAll()).toBe(0);
  });
});

/** Checks everything not yet checked. @returns how many bets were wrong */
async function checkAll(): Promise<number> {
  const checks = new BooksChecks(gateway.parts.database);
  let wrong = 0;
  for (;;) {
    const checked = await checks.checkBets();
    wrong += checked.wrong;
    if (checked.lookedAt === 0) break;
  }
  const dayChecks = new DayChecks(gateway.parts.database);
  for (const operatorId of await dayChecks.operators()) {
    wrong += await checkDays(dayChecks, operatorId, { isStopping: () => false });
  }
  return wrong;
}

describe('the checker of the books finds planted errors (I12)', () => {
  const violations = () => rowsOf(gateway, 'SELECT rule, subject FROM books_violations ORDER BY 1');
  const recheck = () =>
    onServer(gateway.databaseUrl, (client) =>
      client.query(`UPDATE books_cursor SET checked_in = '0'`),
    );

  it.each([
    ['an amount one cent off', `UPDATE books_movements SET amount = amount - 0.01`],
    ['a movement that is missing', `DELETE FROM books_movements`],
    [
      'a movement that is there twice',
      `INSERT INTO books_movements
        SELECT transaction_id, sequence + 1, operator_id, player_id, currency, kind, amount,
               is_freebet, opens, open_stake, operation, operation_id, number, written_in,
               confirmed_at, belongs_to, day FROM books_movements`,
    ],
  ])('%s, of its bet and of its day, until it is mended', async (_, damage) => {
    const bet = await placedBet(gateway);
    await bet.settle('20');
    await bookAll(gateway);
    await onServer(gateway.databaseUrl, (client) =>
      client.query(`${damage} WHERE transaction_id = $1 AND kind = 'payout'`, [bet.transactionId]),
    );
    await recheck();
    expect(await checkAll()).toBe(2);
    expect(await violations()).toEqual([
      { rule: 'bet', subject: bet.transactionId },
      { rule: 'day', subject: `alpha/USD/${today()}` },
    ]);
    await rebuild();
    expect(await checkAll()).toBe(0);
    expect(await violations()).toEqual([]);
  });

  it('a sum of a day that is not its movements’', async () => {
    await onServer(gateway.databaseUrl, (client) =>
      client.query(`UPDATE books_days SET stakes = stakes + 1 WHERE operator_id = 'beta'`),
    );
    expect(await checkAll()).toBe(1);
    await rebuild();
    expect(await checkAll()).toBe(0);
  });

  it('is silent about a bet of which something confirmed is not booked yet', async () => {
    const bet = await placedBet(gateway);
    await bookAll(gateway);
    await bet.settle('20');
    expect(await checkAll()).toBe(0);
    await bookAll(gateway);
    expect(await checkAll()).toBe(0);
  });
});
