import { vi } from 'vitest';
import { keepBooks } from '../../../src/books/keep-books.ts';
import { addAmounts } from '../../../src/domain/amount.ts';
import { BooksJournal } from '../../../src/store/books/books-journal.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { onServer } from '../../support/server.ts';

/** The rows of any query on the gateway's database, as text. */
export async function rowsOf(
  gateway: Pick<TestGateway, 'databaseUrl'>,
  text: string,
  values: readonly unknown[] = [],
): Promise<Record<string, unknown>[]> {
  return await onServer(gateway.databaseUrl, async (client) => {
    const { rows } = await client.query<Record<string, unknown>>(text, [...values]);
    return rows;
  });
}

/** Books everything that may be booked now, in batches of this many entries. */
export async function bookReadable(gateway: TestGateway, batchEntries = 1_000): Promise<number> {
  const journal = new BooksJournal(gateway.parts.database);
  for (let movements = 0; ; ) {
    const kept = await keepBooks(journal, 'UTC', batchEntries);
    if (kept.kind !== 'overtaken') movements += kept.movements.length;
    if (kept.kind === 'done') return movements;
  }
}

/** Books everything written so far, even if other tests on the same server have transactions in flight. */
export async function bookAll(gateway: TestGateway, batchEntries = 1_000): Promise<number> {
  let movements = 0;
  const bookRest = async () => {
    movements += await bookReadable(gateway, batchEntries);
    const [left] = await rowsOf(
      gateway,
      `SELECT count(*)::int AS count FROM attempts a, books_cursor c
        WHERE a.confirmed
          AND (a.written_in, a.operation_id, a.number) > (c.written_in, c.operation_id, c.number)`,
    );
    if (left?.count !== 0) throw new Error(`${left?.count} attempts are not booked`);
  };
  await vi.waitFor(bookRest, { interval: 10, timeout: 20_000 });
  return movements;
}

/** A bet's movements, each as `stake -10 1`, or with their currency as `stake -10 USD`. */
export async function movementsOfBet(
  gateway: TestGateway,
  transactionId: string,
  last: 'opens' | 'currency' = 'opens',
): Promise<string[]> {
  const rows = await rowsOf(
    gateway,
    `SELECT kind || ' ' || amount || ' ' || ${last} AS told FROM books_movements
      WHERE transaction_id = $1 ORDER BY sequence`,
    [transactionId],
  );
  return rows.map(({ told }) => String(told));
}

/** Every movement as a text, in the order of the key. */
export async function wholeBooks(gateway: TestGateway): Promise<string[]> {
  const rows = await rowsOf(
    gateway,
    'SELECT m::text AS row FROM books_movements m ORDER BY transaction_id, sequence',
  );
  return rows.map(({ row }) => String(row));
}

/** What bets have moved according to the books, for one operator and currency. */
export async function bookedNet(
  gateway: TestGateway,
  operatorId: string,
  currency: string,
): Promise<string> {
  const rows = await rowsOf(
    gateway,
    'SELECT amount::text AS amount FROM books_movements WHERE operator_id = $1 AND currency = $2',
    [operatorId, currency],
  );
  return rows.reduce((sum, { amount }) => addAmounts(sum, String(amount)), '0');
}
