import type { BookedMovement } from '../../../src/store/books/book-statement.ts';
import { BooksJournal } from '../../../src/store/books/books-journal.ts';
import { Database } from '../../../src/store/database.ts';
import { createDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';

/** A call, since many files share one instance of this module: midnight may pass between them. */
const today = () => new Date().toISOString().slice(0, 10);

/**
 * Books in their own database, into which movements are booked as a worker does.
 * @param day the day of every movement, in UTC
 */
export async function openBooks(day = today()) {
  const { url, drop } = await createDatabase();
  const database = new Database({ url, connectionsMax: 4, onIdleError: () => undefined });
  const journal = new BooksJournal(database);
  let bets = 0;
  const stakeOf = (operatorId: string, confirmedAt: Date): BookedMovement => {
    bets += 1;
    const whose = { transactionId: `bet-${bets}`, sequence: 1, operatorId, playerId: '1' };
    const at = { writtenIn: '5', operationId: String(bets), number: 1 };
    const days = { confirmedAt, belongsTo: day, day };
    const what = {
      currency: bets % 2 === 0 ? 'USD' : 'EUR',
      kind: 'stake',
      amount: '-1.25',
    } as const;
    const open = { isFreebet: false, opens: 1, openStake: '1.25', operation: 'place' } as const;
    return { ...whose, ...what, ...open, ...days, at };
  };
  return {
    url,
    database,
    /** It stays when midnight passes. */
    day,
    /** Books this many stakes in one batch. @param second the second of the day in which a wallet confirmed them */
    async book(operatorId: string, count: number, second = bets): Promise<void> {
      const confirmedAt = new Date(Date.parse(`${day}T00:00:00Z`) + second * 1_000);
      const movements = Array.from({ length: count }, () => stakeOf(operatorId, confirmedAt));
      const { version } = await journal.cursor();
      const to = movements.at(-1)?.at ?? { writtenIn: '5', operationId: '0', number: 1 };
      const isBooked = await journal.book({ version, to, timeZone: 'UTC', movements });
      if (!isBooked) throw new Error('somebody else has booked');
    },
    async query(text: string): Promise<Record<string, unknown>[]> {
      return await onServer(url, async (client) => {
        const { rows } = await client.query<Record<string, unknown>>(text);
        return rows;
      });
    },
    async close(): Promise<void> {
      await database.close();
      await drop();
    },
  };
}
