import type { Runner } from '../store/books/books-journal.ts';
import { BooksTransaction } from '../store/books/books-transaction.ts';
import { closeDay, isBookedUntil } from '../store/books/closing.ts';
import { type DueDay, dueDays } from '../store/books/due-days.ts';
import { keepsOpen } from '../store/books/open-operations.ts';
import { Statements } from '../store/books/statements.ts';
import type { DatabaseAddress } from '../store/connection.ts';
import { sealOf } from './statement-digest.ts';

/** When a day is closed (docs/contract.md, Configuration). */
export interface ClosingTimes {
  readonly timeZone: string;
  readonly closeAfterMinutes: number;
  readonly closeAtLatestMinutes: number;
}

/** What a round has come to. */
export interface ClosedDays {
  readonly closed: readonly DueDay[];
  /** How many days are due and still open, whatever keeps them. */
  readonly overdue: number;
  /** Of those, the ones that could not be looked at or closed. */
  readonly failed: readonly { readonly operatorId: string; readonly error: unknown }[];
}

/**
 * Closes every operator's oldest open day that is due and that nothing keeps open. Of two processes
 * that close a day at once, one does; a process that is killed has closed it or not. One whose day
 * cannot be closed keeps no other operator's open.
 * @returns what was closed, after which the next day may be due
 * @throws GatewayError `DATABASE_UNAVAILABLE` when it cannot be told which days are due, also in the midst of it
 */
export async function closeDueDays(
  runner: Runner,
  database: DatabaseAddress,
  times: ClosingTimes,
): Promise<ClosedDays> {
  const closed: DueDay[] = [];
  const failed: ClosedDays['failed'][number][] = [];
  const due = await dueDays(runner, times);
  for (const one of due) {
    try {
      if (await closeIfReady(runner, database, one, times.timeZone)) closed.push(one);
    } catch (error) {
      failed.push({ operatorId: one.operatorId, error });
      // Where it is PostgreSQL that is away, the others are not waited for one by one.
      await dueDays(runner, times);
    }
  }
  return { closed, overdue: due.length - closed.length, failed };
}

async function closeIfReady(
  runner: Runner,
  database: DatabaseAddress,
  due: DueDay,
  timeZone: string,
): Promise<boolean> {
  if (!due.isOverdue && !(await isReady(runner, due))) return false;
  return await BooksTransaction.prepared(database, (books) => {
    const digest = () => sealOf(new Statements(books), due.operatorId, due.day);
    return closeDay(books, due, timeZone, digest);
  });
}

/** In this order: a call that ends in between is no longer open, and is looked for in the books. */
async function isReady(runner: Runner, due: DueDay): Promise<boolean> {
  return !(await keepsOpen(runner, due)) && (await isBookedUntil(runner, due.endsAt));
}
