import type { TypedStatement } from '../statement.ts';
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

/** The journal as the books read it, and the books as they are written. */
export class BooksJournal {
  readonly #runner: Runner;

  /** Every method throws GatewayError `DATABASE_UNAVAILABLE` where `runner` is a `Database`. */
  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** How far the books have come; the time zone is undefined until something was booked. */
  async cursor() {
    const [cursor] = await this.#runner.run(READ_CURSOR, {});
    if (cursor === undefined) throw new Error('books_cursor has lost its row');
    return cursor;
  }

  /** What comes next, at most `limit`: fewer means that there is no more for now. */
  async entries(
    after: Position,
    timeZone: string,
    limit: number,
  ): Promise<readonly JournalEntry[]> {
    return await this.#runner.run(READ_ENTRIES, { after, timeZone, limit });
  }

  /** What is booked of these bets, in the order of their movements. */
  async bookedOf(transactionIds: readonly string[]) {
    return transactionIds.length === 0 ? [] : await this.#runner.run(READ_BOOKED, transactionIds);
  }

  /** The operators' days from `fromDay` on that are closed. */
  async closings(operatorIds: readonly string[], fromDay: string): Promise<readonly Closing[]> {
    return await this.#runner.run(READ_CLOSINGS, { operatorIds, fromDay });
  }

  /** @returns false where somebody else has booked in the meantime: nothing is written */
  async book(booking: Booking): Promise<boolean> {
    return (await this.#runner.run(BOOK, booking)).length > 0;
  }

  /** Puts on record what must not be; the same one again is not another one. */
  async note(violations: readonly Violation[]): Promise<void> {
    if (violations.length > 0) await this.#runner.run(NOTE_VIOLATION, violations);
  }
}
