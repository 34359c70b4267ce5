import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildBooks } from '../../src/books/rebuild.ts';
import { BooksChecks } from '../../src/store/books/checks.ts';
import { type Pruned, prune } from '../../src/store/prune/prune.ts';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';
import { bookAll, movementsOfBet, rowsOf, wholeBooks } from './support/kept-books.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
  await query(`SELECT journal_prepare_month(month) FROM generate_series(
    '2025-12-10'::timestamptz, '2026-02-10', interval '1 month') month`);
});
afterAll(() => gateway.close());

async function query(text: string): Promise<void> {
  await onServer(gateway.databaseUrl, (client) => client.query(text));
}

/** Dates one operation of a bet: its request, and its attempt. */
async function date(
  { transactionId }: TestBet,
  operation: string,
  asked: string,
  tried = asked,
): Promise<void> {
  const ids = `SELECT id FROM operations
                WHERE transaction_id = '${transactionId}' AND operation = '${operation}'`;
  await query(`UPDATE attempts SET started_at = '${tried}' WHERE operation_id IN (${ids})`);
  await query(`UPDATE operations SET created_at = '${asked}' WHERE id IN (${ids})`);
  if (operation !== 'place') return;
  await query(`UPDATE bets SET created_at = '${asked}' WHERE transaction_id = '${transactionId}'`);
}

const pruned = (before: string): Promise<Pruned> =>
  prune(gateway.databaseUrl, { before: new Date(before), isDryRun: false, log: () => undefined });

describe('an operation of a month that goes, which its wallet took in the next one', () => {
  it('keeps the month until it is in the books (I12)', async () => {
    const bet = await placedBet(gateway, { amount: '10' });
    await date(bet, 'place', '2025-12-15');
    await bookAll(gateway);
    await bet.rollback();
    await date(bet, 'rollback', '2025-12-31T12:00:00Z', '2026-01-03T12:00:00Z');
    expect(await pruned('2026-01-01')).toMatchObject({
      months: [
        { result: 'refused', open: [{ transactionId: bet.transactionId, why: 'not_booked' }] },
      ],
      bets: 0,
    });
    await bookAll(gateway);
    expect(await pruned('2026-01-01')).toMatchObject({ months: [{ result: 'dropped' }], bets: 1 });
    const { transactionId } = bet;
    expect(await movementsOfBet(gateway, transactionId)).toEqual([
      'stake -10 1',
      'stake_return 10 -1',
    ]);
  });

  it('stays as it is booked when the books are rebuilt (I12)', async () => {
    // In the last moment of the month; and a promise that waited for days.
    const settled = await placedBet(gateway, { amount: '10' });
    await date(settled, 'place', '2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00.002Z');
    await settled.settle('20');
    await date(settled, 'settle', '2026-02-01T12:00:00Z');
    const rolledBack = await placedBet(gateway, { amount: '10' });
    await date(rolledBack, 'place', '2026-01-31T12:00:00Z');
    await rolledBack.rollback();
    await date(rolledBack, 'rollback', '2026-01-31T12:01:00Z', '2026-02-03T12:00:00Z');
    const later = await placedBet(gateway, { amount: '10' });
    await bookAll(gateway);
    const books = await wholeBooks(gateway);

    expect((await pruned('2026-02-01')).months).toMatchObject([{ result: 'dropped' }]);
    const settings = { timeZone: 'UTC', fromDay: undefined, log: () => undefined };
    expect(await rebuildBooks(gateway.databaseUrl, settings)).toMatchObject({ changed: 0 });
    expect(await wholeBooks(gateway)).toEqual(books);
    expect(await movementsOfBet(gateway, later.transactionId)).toEqual(['stake -10 1']);
  });
});

it('a result of a bet that is gone is booked as the difference, and nothing is called wrong (I12)', async () => {
  const corrected = await placedBet(gateway, { amount: '10' });
  const undone = await placedBet(gateway, { amount: '10' });
  for (const bet of [corrected, undone]) {
    await bet.settle('20');
    await date(bet, 'place', '2026-02-10');
    await date(bet, 'settle', '2026-02-11');
  }
  const stray = await placedBet(gateway, { amount: '10' });
  await bookAll(gateway);
  expect(await pruned('2026-03-01')).toMatchObject({ months: [{ result: 'dropped' }], bets: 3 });

  await corrected.settle('5');
  await undone.unsettle();
  // Of this one the journal does say that its place was not seen.
  await query(`UPDATE bets SET place = 'unseen' WHERE transaction_id = '${stray.transactionId}'`);
  await bookAll(gateway);
  expect(await movementsOfBet(gateway, corrected.transactionId)).toEqual([
    'stake -10 1',
    'payout 20 -1',
    'payout_reversal -15 0',
  ]);
  await new BooksChecks(gateway.parts.database).checkBets();
  expect(await rowsOf(gateway, 'SELECT subject, found, expected FROM books_violations')).toEqual([
    { subject: stray.transactionId, found: 'stake -10, result 0', expected: 'stake 0, result 0' },
  ]);
});
