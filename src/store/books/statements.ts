import { MOVEMENT_KINDS } from '../../domain/movements.ts';
import type { StatementRow } from '../../domain/statement-csv.ts';
import { named, namedColumns } from '../sql/named.ts';
import { statement } from '../sql/statement.ts';
import type { Runner } from './books-journal.ts';
import { type DayTotals, totalsOf } from './day-totals.ts';
import { WHICH_DAY, type WhichDay } from './open-operations.ts';

/** An operation that was open when a day was closed, or that keeps it from being closed. */
export interface OpenOperation {
  readonly transactionId: string;
  readonly operation: string;
  /** In words: `promised, not confirmed yet`. */
  readonly why: string;
  /** ISO 8601 UTC. */
  readonly since: string;
}

/** What the statement of a closed day recorded of its lines. */
export interface ClosedDay extends WhichDay {
  /** How many there are. */
  readonly movements: number;
  /** Of its CSV, hexadecimal. */
  readonly sha256: string;
}

/** Of the columns `operator_id`, `day` as text, `movements` as an integer and `sha256`. */
export const closedDayOf = namedColumns({
  operator_id: 'text',
  day: 'text',
  movements: 'int',
  sha256: 'text',
});

/** A closed day of one operator. */
export interface DayStatement {
  readonly operator: string;
  readonly day: string;
  readonly timeZone: string;
  /** ISO 8601 UTC, as all times here. */
  readonly startsAt: string;
  readonly endsAt: string;
  readonly closedAt: string;
  /** How many lines its CSV has, without the header. */
  readonly movements: number;
  /** Of its CSV, hexadecimal. */
  readonly sha256: string;
  /** One per currency. */
  readonly totals: readonly DayTotals[];
  /** How many operations were open, and the first thousand of them. */
  readonly openCount: number;
  readonly open: readonly OpenOperation[];
}

const FIND = statement(
  'books-find-statement',
  named(WHICH_DAY),
  `
  SELECT operator_id, day::text, time_zone, starts_at, ends_at, closed_at, movements::int, sha256,
         totals, open, open_count::int
    FROM books_statements WHERE operator_id = :operator_id AND day = :day`,
  (row): DayStatement => ({
    operator: row.text('operator_id'),
    day: row.text('day'),
    timeZone: row.text('time_zone'),
    startsAt: row.date('starts_at').toISOString(),
    endsAt: row.date('ends_at').toISOString(),
    closedAt: row.date('closed_at').toISOString(),
    movements: row.int('movements'),
    sha256: row.text('sha256'),
    totals: row.rowsOrNull('totals').map(totalsOf),
    openCount: row.int('open_count'),
    open: row.rowsOrNull('open').map((one) => ({
      transactionId: one.text('transactionId'),
      operation: one.text('operation'),
      why: one.text('why'),
      since: one.text('since'),
    })),
  }),
);

interface PageEnd {
  readonly confirmedAt: Date;
  readonly operationId: string;
  readonly sequence: number;
}

const PAGE_ROWS = 2_000;
const BEGINNING: PageEnd = { confirmedAt: new Date(0), operationId: '0', sequence: 0 };

const READ_PAGE = statement(
  'books-read-statement-page',
  named({ ...WHICH_DAY, confirmed_at: 'timestamptz', operation_id: 'bigint', sequence: 'int' }),
  `
  SELECT transaction_id, operation_id, sequence, currency, kind, amount::text, is_freebet, confirmed_at,
         belongs_to::text, operation
    FROM books_movements
   WHERE operator_id = :operator_id AND day = :day
     AND (confirmed_at, operation_id, sequence) > (:confirmed_at, :operation_id, :sequence)
   ORDER BY confirmed_at, operation_id, sequence LIMIT ${PAGE_ROWS}`,
  (row) => ({
    end: {
      confirmedAt: row.date('confirmed_at'),
      operationId: row.text('operation_id'),
      sequence: row.int('sequence'),
    },
    line: {
      transactionId: row.text('transaction_id'),
      currency: row.text('currency'),
      kind: row.oneOf('kind', MOVEMENT_KINDS),
      amount: row.text('amount'),
      isFreebet: row.bool('is_freebet'),
      confirmedAt: row.date('confirmed_at').toISOString(),
      belongsTo: row.text('belongs_to'),
      operation: row.text('operation'),
    } satisfies StatementRow,
  }),
);

/** Reads closed days and their movements. Every query names its operator (I8). */
export class Statements {
  readonly #runner: Runner;

  /** Every method throws GatewayError `DATABASE_UNAVAILABLE` where `runner` is a `Database`. */
  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** Undefined while the day is open, and for an operator without statements. */
  async find(operatorId: string, day: string): Promise<DayStatement | undefined> {
    const [found] = await this.#runner.run(FIND, { operatorId, day });
    return found;
  }

  /** The movements booked into an operator's day, page by page, in the statement's order. */
  async *pages(operatorId: string, day: string): AsyncGenerator<readonly StatementRow[]> {
    for (let after = BEGINNING; ; ) {
      const rows = await this.#runner.run(READ_PAGE, { operatorId, day, ...after });
      const last = rows.at(-1);
      if (last === undefined) return;
      yield rows.map(({ line }) => line);
      after = last.end;
      if (rows.length < PAGE_ROWS) return;
    }
  }
}
