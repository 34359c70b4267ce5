import type { Runner } from '../store/books/books-journal.ts';
import { BooksTransaction } from '../store/books/books-transaction.ts';
import { closeDay, type DueDay, dueDays, isBookedUntil, isHeld } from '../store/books/closing.ts';
import { Statements } from '../store/books/statements.ts';
import { sealOf } from './statement-digest.ts';

/** When a day is closed (docs/contract.md, Configuration). */
export interface ClosingTimes {
  readonly timeZone: string;
  readonly closeAfterMinutes: number;
  readonly closeAtLatestMinutes: number;
}

/**
 * Closes every operator's oldest open day that is due and that nothing keeps open. Of two processes
 * that close a day at once, one does; a process that is killed has closed it or not.
 * @returns what was closed, after which the next day may be due, and how many days are kept open
 */
export async function closeDueDays(
  runner: Runner,
  databaseUrl: string,
  times: ClosingTimes,
): Promise<{ readonly closed: readonly DueDay[]; readonly held: number }> {
  const closed: DueDay[] = [];
  const due = await dueDays(runner, times);
  for (const one of due) {
    if (!one.isOverdue && !(await isReady(runner, one))) continue;
    const isClosed = await BooksTransaction.prepared(databaseUrl, (books) => {
      const { operatorId, day } = one;
      const digest = () => sealOf(new Statements(books), operatorId, day);
      return closeDay(books, one, times.timeZone, digest);
    });
    if (isClosed) closed.push(one);
  }
  return { closed, held: due.length - closed.length };
}

/** In this order: a call that ends in between is no longer open, and is looked for in the books. */
async function isReady(runner: Runner, due: DueDay): Promise<boolean> {
  return !(await isHeld(runner, due)) && (await isBookedUntil(runner, due.endsAt));
}
