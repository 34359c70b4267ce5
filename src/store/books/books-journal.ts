import type { TypedStatement } from '../sql/statement.ts';
import { BOOK, type Booking } from './book-statement.ts';
import type { Position } from './position.ts';
import {
  type Closing,
  type JournalEntry,
  READ_BOOKED,
  READ_CLOSINGS,
  READ_CURSOR,
  READ_ENTRIES,
} from './read-statements.ts';
import { NOTE_VIOLATION, type Violation } from './violations.ts';

/** What runs statements: the pool, or one transaction of a rebuild. */
export interface Runner {
  run<Input, Row>(statement: TypedStatement<Input, Row>, input: Input): Promise<Row[]>;
}

export type BookedRow = Awaited<ReturnType<BooksJournal['bookedOf']>>[number];

/** Reads the journal for the books, and writes the books. */
export class BooksJournal {
  readonly #runner: Runner;

  /** Every method throws GatewayError `DATABASE_UNAVAILABLE` where `runner` is a `Database`. */
  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** The journal position up to which the books are written; no time zone until something was booked. */
  async cursor() {
    const [cursor] = await this.#runner.run(READ_CURSOR, {});
    if (cursor === undefined) throw new Error('books_cursor has lost its row');
    return cursor;
  }

  /** The next entries after a position. Fewer than `limit` means there are no more for now. */
  async entries(
    after: Position,
    timeZone: string,
    limit: number,
  ): Promise<readonly JournalEntry[]> {
    return await this.#runner.run(READ_ENTRIES, { ...after, timeZone, limit });
  }

  /** The booked movements of these bets, in order. */
  async bookedOf(transactionIds: readonly string[]) {
    return transactionIds.length === 0
      ? []
      : await this.#runner.run(READ_BOOKED, { transactionIds });
  }

  /** The closed days of these operators, from `fromDay` on. */
  async closings(operatorIds: readonly string[], fromDay: string): Promise<readonly Closing[]> {
    return await this.#runner.run(READ_CLOSINGS, { operatorIds, fromDay });
  }

  /** @returns false, with nothing written, if another process has booked since the books were read */
  async book(booking: Booking): Promise<boolean> {
    return (await this.#runner.run(BOOK, booking)).length > 0;
  }

  /** Records violations. One that is already recorded is updated, not added again. */
  async note(violations: readonly Violation[]): Promise<void> {
    if (violations.length > 0) await this.#runner.run(NOTE_VIOLATION, violations);
  }
}
