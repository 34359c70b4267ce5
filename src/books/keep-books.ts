import type { BookedMovement } from '../store/books/book-statement.ts';
import type { BooksJournal } from '../store/books/books-journal.ts';
import type { ConfirmedEntry } from '../store/books/read-statements.ts';
import { batchOf } from './batch.ts';

/** Entries booked by one statement: all that has to be read again if a worker is killed. */
const BATCH_ENTRIES = 1_000;

export type Kept =
  /** There are no more entries below the watermark. */
  | { readonly kind: 'done'; readonly movements: readonly BookedMovement[] }
  | { readonly kind: 'more'; readonly movements: readonly BookedMovement[] }
  /** Another worker booked meanwhile, so nothing was written. */
  | { readonly kind: 'overtaken' };

/**
 * Books the next batch of entries after the cursor. @param timeZone used for the first booking only
 * @throws GatewayError `DATABASE_UNAVAILABLE`; the batch may or may not be booked
 */
export async function keepBooks(
  journal: BooksJournal,
  timeZone: string,
  batchEntries = BATCH_ENTRIES,
): Promise<Kept> {
  const cursor = await journal.cursor();
  const zone = cursor.timeZone ?? timeZone;
  const entries = await journal.entries(cursor.at, zone, batchEntries);
  const last = entries.at(-1);
  if (last === undefined) return { kind: 'done', movements: [] };
  const confirmed = entries.flatMap((entry) => entry.confirmed ?? []);
  const booked = await journal.bookedOf([...new Set(confirmed.map((one) => one.transactionId))]);
  const closings = confirmed.length === 0 ? [] : await closingsFor(journal, confirmed);
  const { movements, unbookable } = await batchOf(entries, booked, closings);
  await journal.note(unbookable);
  const isBooked = await journal.book({
    version: cursor.version,
    to: last.at,
    timeZone: zone,
    movements,
  });
  if (!isBooked) return { kind: 'overtaken' };
  const isAll = entries.length < batchEntries;
  return { kind: isAll ? 'done' : 'more', movements };
}

async function closingsFor(journal: BooksJournal, confirmed: readonly ConfirmedEntry[]) {
  const operatorIds = [...new Set(confirmed.map(({ operatorId }) => operatorId))];
  const days = confirmed.map(({ belongsTo }) => belongsTo).sort();
  return await journal.closings(operatorIds, days[0] ?? '');
}
