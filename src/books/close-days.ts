import type { Runner } from '../store/books/books-journal.ts';
import { BooksTransaction } from '../store/books/books-transaction.ts';
import { closeDay, isBookedUntil } from '../store/books/closing.ts';
import { type DueDay, dueDays } from '../store/books/due-days.ts';
import { keepsOpen } from '../store/books/open-operations.ts';
import { Statements } from '../store/books/statements.ts';
import { sealOf } from './statement-digest.ts';

/** When a day is closed (docs/reference.md, Configuration). */
export interface ClosingTimes {
  readonly timeZone: string;
  readonly closeAfterMinutes: number;
  readonly closeAtLatestMinutes: number;
}

/** The result of one round of closing. */
export interface ClosedDays {
  readonly closed: readonly DueDay[];
  /** Due days that are still open because closing them failed. */
  readonly failed: readonly { readonly operatorId: string; readonly error: unknown }[];
}

/**
 * Closes every operator's oldest open day, if it is due and nothing keeps it open. Closing is atomic, and a day
 * that cannot be closed does not hold up other operators. @returns what was closed
 * @throws GatewayError `DATABASE_UNAVAILABLE` if the due days cannot be read
 */
export async function closeDueDays(
  runner: Runner,
  databaseUrl: string,
  times: ClosingTimes,
): Promise<ClosedDays> {
  const closed: DueDay[] = [];
  const failed: ClosedDays['failed'][number][] = [];
  const due = await dueDays(runner, times);
  for (const one of due) {
    try {
      if (await closeIfReady(runner, databaseUrl, one, times.timeZone)) closed.push(one);
    } catch (error) {
      failed.push({ operatorId: one.operatorId, error });
      // Throws if PostgreSQL is down, so that the others do not fail one by one, each after a timeout.
      await dueDays(runner, times);
    }
  }
  return { closed, failed };
}

async function closeIfReady(
  runner: Runner,
  databaseUrl: string,
  due: DueDay,
  timeZone: string,
): Promise<boolean> {
  if (!(await isReady(runner, due))) return false;
  return await BooksTransaction.prepared(databaseUrl, (books) => {
    const digest = () => sealOf(new Statements(books), due.operatorId, due.day);
    return closeDay(books, due, timeZone, digest);
  });
}

/** In this order: a call that ends in between is no longer open, but has to be in the books then. */
async function isReady(runner: Runner, due: DueDay): Promise<boolean> {
  const isOver = due.isOverdue || !(await keepsOpen(runner, due));
  return isOver && (await isBookedUntil(runner, due.endsAt));
}
