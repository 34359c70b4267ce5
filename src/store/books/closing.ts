import { IS_PLACE_UNRESOLVED } from '../bets/ended.ts';
import { LEASE_SECONDS } from '../bets/lease.ts';
import { noRow, type Parameters, statement } from '../statement.ts';
import type { Runner } from './books-journal.ts';
import type { BooksTransaction } from './books-transaction.ts';
import { dayStart } from './day-start.ts';
import { TOTALS_COLUMNS } from './day-totals.ts';
import type { Position } from './position.ts';
import { READ_CURSOR } from './read-statements.ts';
import { countUnresolved } from './unresolved.ts';

/** An operator's first day that is not closed, and whose time to be closed has come. */
export interface DueDay {
  readonly operatorId: string;
  readonly day: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  /** It is closed now whatever is open. */
  readonly isOverdue: boolean;
}

interface Due {
  readonly timeZone: string;
  readonly closeAfterMinutes: number;
  readonly closeAtLatestMinutes: number;
}

/** One probe of an index an operator (a loose scan), however many days each of them has. */
const DUE = statement(
  'books-due-days',
  {
    time_zone: ['text', ({ timeZone }) => timeZone],
    after_minutes: ['int', ({ closeAfterMinutes }) => closeAfterMinutes],
    at_latest_minutes: ['int', ({ closeAtLatestMinutes }) => closeAtLatestMinutes],
  } satisfies Parameters<Due>,
  `
  WITH RECURSIVE operator AS (
    (SELECT operator_id FROM books_days ORDER BY operator_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.operator_id FROM books_days d WHERE d.operator_id > o.operator_id
             ORDER BY d.operator_id LIMIT 1)
      FROM operator o WHERE o.operator_id IS NOT NULL
  ), first AS (
    SELECT o.operator_id,
           coalesce((SELECT max(s.day) + 1 FROM books_statements s
                      WHERE s.operator_id = o.operator_id),
                    (SELECT min(d.day) FROM books_days d WHERE d.operator_id = o.operator_id)) AS day
      FROM operator o WHERE o.operator_id IS NOT NULL
  ), bounds AS (
    SELECT operator_id, day, ${dayStart('day', ':time_zone')} AS starts_at,
           ${dayStart('day + 1', ':time_zone')} AS ends_at
      FROM first
  )
  SELECT operator_id, day::text, starts_at, ends_at,
         clock_timestamp() >= ends_at + make_interval(mins => :at_latest_minutes) AS is_overdue
    FROM bounds
   WHERE clock_timestamp() >= ends_at + make_interval(mins => :after_minutes)`,
  (row): DueDay => ({
    operatorId: row.text('operator_id'),
    day: row.text('day'),
    startsAt: row.date('starts_at'),
    endsAt: row.date('ends_at'),
    isOverdue: row.bool('is_overdue'),
  }),
);

const whichDay: Parameters<Pick<DueDay, 'operatorId' | 'day'>> = {
  operator_id: ['text', ({ operatorId }) => operatorId],
  day: ['date', ({ day }) => day],
};

const dayOf: Parameters<DueDay> = {
  ...(whichDay satisfies Parameters<DueDay>),
  ends_at: ['timestamptz', ({ endsAt }) => endsAt],
};

/** Shown of what is open. */
const OPEN_MAX = 1_000;

/**
 * What was asked for before a day's end and is not over: what may yet turn out to belong to it holds
 * the day (`holds`); a dead letter waits for a person and does not.
 */
const OPEN_OPERATIONS = `
    SELECT b.transaction_id, b.busy_operation AS operation, 'on its way to the wallet' AS why,
           b.busy_until - make_interval(secs => ${LEASE_SECONDS}) AS since, true AS holds
      FROM bets b
     WHERE b.busy_until < :ends_at + make_interval(secs => ${LEASE_SECONDS})
       AND b.operator_id = :operator_id
    UNION ALL
    SELECT b.transaction_id, 'place', 'of unknown outcome, not rolled back yet', b.created_at, true
      FROM bets b
     WHERE ${IS_PLACE_UNRESOLVED}
       AND b.created_at < :ends_at AND b.operator_id = :operator_id
    UNION ALL
    SELECT b.transaction_id, coalesce(b.settlement_type, 'result'), 'of unknown outcome', b.late_at, true
      FROM bets b
     WHERE b.operator_id = :operator_id AND b.settlement = 'unknown' AND b.rollback = 'none'
       AND coalesce(b.late_at < :ends_at, true)
    UNION ALL
    SELECT d.transaction_id, d.operation, 'promised, not confirmed yet', d.created_at, true
      FROM deliveries d
     WHERE d.operator_id = :operator_id AND d.state IN ('live', 'pending') AND d.purpose = 'promise'
       AND d.operation <> 'update' AND d.created_at < :ends_at
    UNION ALL
    SELECT d.transaction_id, d.operation, 'a dead letter, waits for a person', d.created_at, false
      FROM deliveries d
     WHERE d.operator_id = :operator_id AND d.state = 'dead' AND d.operation <> 'update'
       AND d.created_at < :ends_at`;

const ofDay: Parameters<Pick<DueDay, 'operatorId' | 'endsAt'>> = {
  operator_id: ['text', ({ operatorId }) => operatorId],
  ends_at: ['timestamptz', ({ endsAt }) => endsAt],
};

/** Ends at the first that holds it: where a wallet is away, millions do, and this is asked every few seconds. */
const IS_HELD = statement(
  'books-is-held',
  ofDay,
  `SELECT EXISTS (SELECT 1 FROM (${OPEN_OPERATIONS}) open WHERE holds) AS is_held`,
  (row) => row.bool('is_held'),
);

const OPEN = statement(
  'books-open-operations',
  dayOf,
  `
  WITH open AS (${OPEN_OPERATIONS}
  )
  SELECT EXISTS (SELECT 1 FROM books_statements s
                  WHERE s.operator_id = :operator_id AND s.day = :day) AS is_closed,
         (SELECT count(*)::int FROM open) AS count,
         (SELECT count(*)::int FROM open WHERE holds) AS holding,
         (SELECT json_agg(json_build_object('transactionId', o.transaction_id,
                   'operation', o.operation, 'why', o.why,
                   'since', to_char(coalesce(o.since, :ends_at) AT TIME ZONE 'UTC',
                                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
            FROM (SELECT * FROM open ORDER BY since, transaction_id LIMIT ${OPEN_MAX}) o)::text AS open`,
  (row) => ({
    isClosed: row.bool('is_closed'),
    count: row.int('count'),
    holding: row.int('holding'),
    /** JSON, as it is stored. */
    open: row.textOrNull('open') ?? '[]',
  }),
);

/** Whether anything that was tried before a day's end is not booked yet, whosever it is. */
const IS_BOOKED = statement(
  'books-is-booked',
  { ends_at: ['timestamptz', (endsAt: Date) => endsAt] },
  `
  SELECT NOT EXISTS (
    SELECT 1 FROM attempts a, books_cursor c
     WHERE a.confirmed IS NOT FALSE AND a.started_at < :ends_at
       AND (a.written_in, a.operation_id, a.number) > (c.written_in, c.operation_id, c.number)
  ) AS is_booked`,
  (row) => row.bool('is_booked'),
);

/** A row for each currency in which something is open at the day's end although nothing moved. */
const COMPLETE_DAY = statement(
  'books-complete-day',
  whichDay,
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

/** One worker at a time goes through an operator's day; others close those of others. */
const CLOSING_LOCK_KEY = 1_640_532_528;

const TAKE_ON = statement(
  'books-take-on-closing',
  whichDay,
  `
  SELECT pg_try_advisory_xact_lock(${CLOSING_LOCK_KEY}, hashtext(:operator_id))
         AND NOT EXISTS (SELECT 1 FROM books_statements s
                          WHERE s.operator_id = :operator_id AND s.day = :day) AS is_mine`,
  (row) => row.bool('is_mine'),
);

interface Since {
  readonly operatorId: string;
  readonly day: string;
  readonly at: Position;
}

/** By what was booked since, which are few: by the day's movements it would look at all of them. */
const IS_BOOKED_INTO = statement(
  'books-is-booked-into',
  {
    operator_id: ['text', ({ operatorId }) => operatorId],
    day: ['date', ({ day }) => day],
    written_in: ['xid8', ({ at }) => at.writtenIn],
    operation_id: ['bigint', ({ at }) => at.operationId],
    number: ['int', ({ at }) => at.number],
  } satisfies Parameters<Since>,
  `
  WITH since AS MATERIALIZED (
    SELECT m.operator_id, m.day FROM books_movements m
     WHERE (m.written_in, m.operation_id, m.number) > (:written_in, :operation_id, :number)
  )
  SELECT EXISTS (SELECT 1 FROM since WHERE operator_id = :operator_id AND day = :day) AS is_booked_into`,
  (row) => row.bool('is_booked_into'),
);

interface Closed extends DueDay, Digest {
  readonly timeZone: string;
  readonly open: string;
  readonly openCount: number;
}

const CLOSE = statement(
  'books-close',
  {
    ...dayOf,
    starts_at: ['timestamptz', ({ startsAt }) => startsAt],
    time_zone: ['text', ({ timeZone }) => timeZone],
    movements: ['bigint', ({ movements }) => movements],
    sha256: ['text', ({ sha256 }) => sha256],
    open: ['jsonb', ({ open }) => open],
    open_count: ['bigint', ({ openCount }) => openCount],
  } satisfies Parameters<Closed>,
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

/** Days whose time to be closed has come, one an operator. @throws GatewayError */
export async function dueDays(runner: Runner, due: Due): Promise<readonly DueDay[]> {
  return await runner.run(DUE, due);
}

/** Whether all that was tried before then is in the books. @throws GatewayError */
export async function isBookedUntil(runner: Runner, endsAt: Date): Promise<boolean> {
  const [isBooked] = await runner.run(IS_BOOKED, endsAt);
  return isBooked === true;
}

/** What a day's statement is sealed with. */
export interface Digest {
  /** Of the CSV, hexadecimal. */
  readonly sha256: string;
  readonly movements: number;
}

/** Whether something open keeps a day from being closed. @throws GatewayError */
export async function isHeld(runner: Runner, due: DueDay): Promise<boolean> {
  const [isHeldNow] = await runner.run(IS_HELD, due);
  return isHeldNow === true;
}

/**
 * Closes a day. Its movements are gone through before the books are held, twenty million take minutes;
 * only where something was booked into it meanwhile they are gone through once more.
 * @param books prepared, not held
 * @param digest of what is booked into it
 * @returns false where something open holds it, or another worker closes it
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
  await books.hold();
  const [open] = await books.run(OPEN, due);
  // Somebody else has closed it since it was found to be due.
  if (open === undefined || open.isClosed) return false;
  if (open.holding > 0 && !due.isOverdue) return false;
  await books.run(COMPLETE_DAY, due);
  await countUnresolved(books, { operatorId: due.operatorId, timeZone });
  const [isBookedInto] = await books.run(IS_BOOKED_INTO, { ...due, at: before.at });
  const sealed = isBookedInto === false ? early : await digest();
  const closed = { ...due, ...sealed, timeZone, open: open.open, openCount: open.count };
  return (await books.run(CLOSE, closed)).length > 0;
}
