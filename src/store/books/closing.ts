import { named } from '../sql/named.ts';
import { noRow, statement } from '../sql/statement.ts';
import type { Runner } from './books-journal.ts';
import type { BooksTransaction } from './books-transaction.ts';
import { BOOKED_TO } from './checks.ts';
import { TOTALS_COLUMNS } from './day-totals.ts';
import type { DueDay } from './due-days.ts';
import { DAY_BOUNDS, OPEN, WHICH_DAY } from './open-operations.ts';
import { POSITION } from './position.ts';
import { READ_CURSOR } from './read-statements.ts';
import { countUnresolved } from './unresolved.ts';

/**
 * Whether every attempt started before a day's end is booked, of all operators. In the order of the books: with
 * EXISTS, PostgreSQL may read the whole journal.
 */
const IS_BOOKED = statement(
  'books-is-booked',
  named({ ends_at: 'timestamptz' }),
  `
  SELECT (
    SELECT true FROM attempts a
     WHERE a.confirmed AND a.started_at < :ends_at
       AND (a.written_in, a.operation_id, a.number) > ${BOOKED_TO}
     ORDER BY a.written_in, a.operation_id, a.number LIMIT 1
  ) IS NULL AS is_booked`,
  (row) => row.bool('is_booked'),
);

/** Adds a row for each currency that has open bets at the day's end but no movement that day. */
const COMPLETE_DAY = statement(
  'books-complete-day',
  named(WHICH_DAY),
  `
  INSERT INTO books_days (day, operator_id, currency, open_bets, open_stakes)
  SELECT :day, :operator_id, b.currency, b.open_bets, b.open_stakes
    FROM (SELECT DISTINCT ON (d.currency) d.currency, d.open_bets, d.open_stakes FROM books_days d
           WHERE d.operator_id = :operator_id AND d.day < :day
           ORDER BY d.currency, d.day DESC) b
   WHERE b.open_bets > 0
  ON CONFLICT (day, operator_id, currency) DO NOTHING`,
  noRow,
);

/** Only one worker at a time reads an operator's day; other workers close other operators' days. */
const CLOSING_LOCK_KEY = 1_640_532_528;

const TAKE_ON = statement(
  'books-take-on-closing',
  named(WHICH_DAY),
  `
  SELECT pg_try_advisory_xact_lock(${CLOSING_LOCK_KEY}, hashtext(:operator_id))
         AND NOT EXISTS (SELECT 1 FROM books_statements s
                          WHERE s.operator_id = :operator_id AND s.day = :day) AS is_mine`,
  (row) => row.bool('is_mine'),
);

/** Reads the few movements booked since then: starting from the day would read all of its movements. */
const IS_BOOKED_INTO = statement(
  'books-is-booked-into',
  named({ ...WHICH_DAY, ...POSITION }),
  `
  WITH since AS MATERIALIZED (
    SELECT m.operator_id, m.day FROM books_movements m
     WHERE (m.written_in, m.operation_id, m.number) > (:written_in, :operation_id, :number)
  )
  SELECT EXISTS (SELECT 1 FROM since WHERE operator_id = :operator_id AND day = :day) AS is_booked_into`,
  (row) => row.bool('is_booked_into'),
);

const CLOSE = statement(
  'books-close',
  named({
    ...DAY_BOUNDS,
    time_zone: 'text',
    movements: 'bigint',
    sha256: 'text',
    open: 'jsonb',
    open_count: 'bigint',
  }),
  `
  INSERT INTO books_statements (operator_id, day, starts_at, ends_at, time_zone, closed_at,
                                written_in, operation_id, number, movements, sha256, totals, open,
                                open_count)
  SELECT :operator_id, :day, :starts_at, :ends_at, :time_zone, clock_timestamp(),
         c.written_in, c.operation_id, c.number, :movements, :sha256,
         coalesce((SELECT jsonb_agg(to_jsonb(t) ORDER BY t.currency)
                     FROM (SELECT ${TOTALS_COLUMNS} FROM books_days d
                            WHERE d.operator_id = :operator_id AND d.day = :day) t), '[]'),
         :open, :open_count
    FROM books_cursor c
  ON CONFLICT (operator_id, day) DO NOTHING
  RETURNING day::text`,
  (row) => row.text('day'),
);

/** Whether every attempt started before `endsAt` is in the books. @throws GatewayError */
export async function isBookedUntil(runner: Runner, endsAt: Date): Promise<boolean> {
  const [isBooked] = await runner.run(IS_BOOKED, { endsAt });
  return isBooked === true;
}

/** The checksum that seals a day's statement. */
export interface Digest {
  /** Of the CSV, hexadecimal. */
  readonly sha256: string;
  readonly movements: number;
}

/**
 * Closes a day. Its movements (perhaps millions) are hashed before the books are locked, and again only if
 * something was booked into the day meanwhile. @param books begun with `prepared`
 * @param digest reads and hashes the day's movements
 * @returns false if an open operation keeps the day open, or another worker closes it
 */
export async function closeDay(
  books: BooksTransaction,
  due: DueDay,
  timeZone: string,
  digest: () => Promise<Digest>,
): Promise<boolean> {
  const [isMine] = await books.run(TAKE_ON, due);
  if (isMine !== true) return false;
  const [before] = await books.run(READ_CURSOR, {});
  if (before === undefined) throw new Error('books_cursor has lost its row');
  const early = await digest();
  await books.lock();
  const [open] = await books.run(OPEN, due);
  // Another worker has closed it since it was found due.
  if (open === undefined || open.isClosed) return false;
  if (open.keepingOpen > 0 && !due.isOverdue) return false;
  await books.run(COMPLETE_DAY, due);
  await countUnresolved(books, { ...due, timeZone });
  const [isBookedInto] = await books.run(IS_BOOKED_INTO, { ...due, ...before.at });
  const sealed = isBookedInto === false ? early : await digest();
  const closed = { ...due, ...sealed, timeZone, open: open.open, openCount: open.count };
  return (await books.run(CLOSE, closed)).length > 0;
}
