import { afterAll, beforeAll, expect, it } from 'vitest';
import { rebuildBooks } from '../../src/books/rebuild.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { age, closeNext, dayBefore } from './support/closed-days.ts';
import { bookAll, bookReadable, rowsOf, wholeBooks } from './support/kept-books.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
});
afterAll(() => gateway.close());

it('what belongs before an operator’s first closed day is booked into its open one, on a rebuild too (I12)', async () => {
  await age(await placedBet(gateway, { amount: '10' }), 1);
  await bookAll(gateway);
  expect(await closeNext(gateway)).toEqual([`alpha ${dayBefore(1)}`]);
  // From a process whose clock is days behind, or a backlog longer than closeAtLatestMinutes.
  const early = await placedBet(gateway, { amount: '3' });
  await age(early, 5);
  const others = await placedBet(gateway, { amount: '4', operatorId: 'beta' });
  await bookAll(gateway);
  const rows = await rowsOf(
    gateway,
    `SELECT transaction_id, day::text, belongs_to::text FROM books_movements
      WHERE transaction_id = ANY ($1) ORDER BY amount DESC`,
    [[early.transactionId, others.transactionId]],
  );
  expect(rows).toEqual([
    { transaction_id: early.transactionId, day: dayBefore(0), belongs_to: dayBefore(5) },
    { transaction_id: others.transactionId, day: dayBefore(0), belongs_to: dayBefore(0) },
  ]);
  const before = await wholeBooks(gateway);
  const options = { timeZone: 'UTC', fromDay: undefined, log: () => undefined };
  expect(await rebuildBooks(gateway.databaseUrl, options)).toMatchObject({ changed: 0 });
  expect(await wholeBooks(gateway)).toEqual(before);
  expect(await bookReadable(gateway)).toBe(0);
});
