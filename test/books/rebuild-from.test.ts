import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildBooks } from '../../src/books/rebuild.ts';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { age, dayBefore } from './support/closed-days.ts';
import { bookAll, movementsOfBet, rowsOf } from './support/kept-books.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {} } });
});
afterAll(() => gateway.close());

const rebuild = (fromDay: string | undefined) =>
  rebuildBooks(gateway.databaseUrl, { timeZone: 'UTC', fromDay, log: () => undefined });

const onAttempt = (change: string) => async (bet: TestBet, value?: string) => {
  await rowsOf(
    gateway,
    `UPDATE attempts SET ${change}
      WHERE operation_id IN (SELECT id FROM operations WHERE transaction_id = $1)`,
    value === undefined ? [bet.transactionId] : [bet.transactionId, value],
  );
};

/** Its wallet was asked a second before this day begins, and confirmed three seconds later. */
const acrossMidnight = onAttempt(
  `started_at = $2::date::timestamp AT TIME ZONE 'UTC' - interval '1 second', latency_ms = 3000`,
);

async function lose({ transactionId }: TestBet): Promise<void> {
  await rowsOf(gateway, 'DELETE FROM books_movements WHERE transaction_id = $1', [transactionId]);
}

describe('a rebuild from a day on', () => {
  it('begins with the call that ended in that day, also if it began before midnight (I12)', async () => {
    const [earlier, first] = [await placedBet(gateway), await placedBet(gateway)];
    await age(earlier, 2);
    await acrossMidnight(first, dayBefore(1));
    await bookAll(gateway);
    const [before, booked] = [
      await movementsOfBet(gateway, earlier.transactionId),
      await movementsOfBet(gateway, first.transactionId),
    ];
    expect(booked).toHaveLength(1);
    await lose(first);
    await lose(earlier);
    expect(await rebuild(dayBefore(1))).toMatchObject({ after: 1, changed: 1 });
    expect(await movementsOfBet(gateway, first.transactionId)).toEqual(booked);
    expect(await movementsOfBet(gateway, earlier.transactionId)).toEqual([]);
    await rebuild(undefined);
    expect(await movementsOfBet(gateway, earlier.transactionId)).toEqual(before);
  });
});
