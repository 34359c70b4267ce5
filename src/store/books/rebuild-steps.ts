import { SUMS } from './book-statement.ts';
import type { BooksTransaction } from './books-transaction.ts';
import { dayStart } from './day-start.ts';
import { type Position, positionOf } from './position.ts';
import { type ClosedDay, closedDayOf } from './statements.ts';

/** How the previous rows differ from the rebuilt ones, up to where the books had been written. */
export interface RebuildDifference {
  readonly before: number;
  readonly after: number;
  /** Booked for the first time: they come after the position the books had reached. */
  readonly added: number;
  /** Rows that are not identical byte for byte, counted on both sides. */
  readonly changed: number;
  readonly examples: readonly string[];
  /** `alpha/USD/2026-11-20`: days whose sums were not those of their movements. */
  readonly days: readonly string[];
}

const POSITION = '(written_in, operation_id, number)';

/** The steps of a rebuild, on books that it has locked. */
export class RebuildSteps {
  readonly #books: BooksTransaction;
  #mended: readonly string[] = [];

  constructor(books: BooksTransaction) {
    this.#books = books;
  }

  /** Whether any day is closed. */
  async hasStatements(): Promise<boolean> {
    const rows = await this.#books.rows(
      'SELECT 1 AS one FROM books_statements LIMIT 1',
      [],
      (row) => row.int('one'),
    );
    return rows.length > 0;
  }

  /**
   * Where a rebuild starts: after what was pruned, at the first attempt that ended after `startOfDay` (undefined:
   * at the beginning). Undefined if there is none.
   */
  async firstOf(startOfDay: Date | undefined): Promise<Position | undefined> {
    const [first] = await this.#books.rows(
      `SELECT a.written_in::text, a.operation_id, a.number
         FROM attempts a, books_cursor c
        WHERE a.confirmed AND a.written_in > c.pruned_in
          AND ($1::timestamptz IS NULL
               OR a.started_at >= $1::timestamptz - interval '1 hour'
                  AND a.started_at + make_interval(secs => a.latency_ms / 1000.0) >= $1::timestamptz)
        ORDER BY a.written_in, a.operation_id, a.number LIMIT 1`,
      [startOfDay ?? null],
      positionOf,
    );
    return first;
  }

  /** The moment at which a day begins, according to PostgreSQL. */
  async startOf(day: string, timeZone: string): Promise<Date> {
    const [start] = await this.#books.rows(
      `SELECT ${dayStart('$1::date', '$2::text')} AS start`,
      [day, timeZone],
      (row) => row.date('start'),
    );
    if (start === undefined) throw new Error('a day has no beginning');
    return start;
  }

  /** Removes the movements from a position on, and moves the cursor back to just before it. */
  async takeBack(from: Position, timeZone: string): Promise<void> {
    // Before anything moves, so that what is mended here was wrong and not merely taken back.
    this.#mended = await this.#sumDays();
    const { writtenIn, operationId, number } = from;
    await this.#books.execute(
      `CREATE TEMP TABLE books_replaced ON COMMIT DROP AS
         SELECT m.* FROM books_movements m LIMIT 0`,
    );
    await this.#books.execute(
      `WITH gone AS (DELETE FROM books_movements
                      WHERE ${POSITION} >= ($1::xid8, $2::bigint, $3::int) RETURNING *)
       INSERT INTO books_replaced SELECT * FROM gone`,
      [writtenIn, operationId, number],
    );
    await this.#books.execute(
      `UPDATE books_cursor SET written_in = $1::xid8, operation_id = $2, number = $3, time_zone = $4,
              version = version + 1`,
      // The position just before this attempt, whether or not such an attempt exists.
      [writtenIn, operationId, number - 1, timeZone],
    );
    await this.#sumDays();
  }

  /** Recomputes every day's sums from its movements. @returns the days whose sums differed */
  async #sumDays(): Promise<readonly string[]> {
    return await this.#books.rows(SUM_DAYS, [], (row) => row.text('subject'));
  }

  /** The closed days that lost or gained movements: no others can have changed. */
  async touchedStatements(from: Position): Promise<readonly ClosedDay[]> {
    const { writtenIn, operationId, number } = from;
    return await this.#books.rows(
      `SELECT s.operator_id, s.day::text, s.movements::int, s.sha256
         FROM (SELECT operator_id, day FROM books_replaced
                UNION SELECT operator_id, day FROM books_movements
                       WHERE ${POSITION} >= ($1::xid8, $2::bigint, $3::int)) touched
         JOIN books_statements s USING (operator_id, day)
        ORDER BY s.day, s.operator_id`,
      [writtenIn, operationId, number],
      closedDayOf,
    );
  }

  /** The first five bets with other movements than before in these closed days. */
  async changedBets(from: Position, days: readonly ClosedDay[]): Promise<readonly string[]> {
    return await this.#books.rows(
      `WITH closed AS (SELECT * FROM unnest($4::text[], $5::date[]) AS c(operator_id, day)),
            before AS (SELECT r::text AS row, r.transaction_id
                         FROM books_replaced r JOIN closed USING (operator_id, day)),
            after AS (SELECT m::text AS row, m.transaction_id
                        FROM books_movements m JOIN closed USING (operator_id, day)
                       WHERE ${POSITION} >= ($1::xid8, $2::bigint, $3::int))
       SELECT DISTINCT transaction_id
         FROM ((TABLE before EXCEPT ALL TABLE after) UNION ALL (TABLE after EXCEPT ALL TABLE before)) changed
        ORDER BY 1 LIMIT 5`,
      [
        ...[from.writtenIn, from.operationId, from.number],
        ...[days.map(({ operatorId }) => operatorId), days.map(({ day }) => day)],
      ],
      (row) => row.text('transaction_id'),
    );
  }

  /** @param bookedTo the cursor before the rebuild: nothing after it had been booked yet */
  async difference(from: Position, bookedTo: Position): Promise<RebuildDifference> {
    const [found] = await this.#books.rows(
      `WITH before AS (SELECT r::text AS row, r.transaction_id FROM books_replaced r),
            made AS (SELECT m::text AS row, m.transaction_id,
                            ${POSITION} > ($4::xid8, $5::bigint, $6::int) AS is_new
                       FROM books_movements m WHERE ${POSITION} >= ($1::xid8, $2::bigint, $3::int)),
            after AS (SELECT row, transaction_id FROM made WHERE NOT is_new),
            changed AS ((TABLE before EXCEPT ALL TABLE after)
                        UNION ALL (TABLE after EXCEPT ALL TABLE before))
       SELECT (SELECT count(*)::int FROM before) AS before, (SELECT count(*)::int FROM after) AS after,
              (SELECT count(*)::int FROM made WHERE is_new) AS added,
              (SELECT count(*)::int FROM changed) AS changed,
              ARRAY(SELECT DISTINCT transaction_id FROM changed ORDER BY 1 LIMIT 5) AS examples`,
      [from, bookedTo].flatMap((at) => [at.writtenIn, at.operationId, at.number]),
      (row) => ({
        before: row.int('before'),
        after: row.int('after'),
        added: row.int('added'),
        changed: row.int('changed'),
        examples: row.texts('examples'),
        days: this.#mended,
      }),
    );
    if (found === undefined) throw new Error('nothing was compared');
    return found;
  }
}

const sums = Object.entries(SUMS);
const KEPT = [...sums.map(([sum]) => sum), 'open_bets', 'open_stakes'];

/** Includes days without movements: bets opened earlier are still open at the end of them. */
const SUM_DAYS = `
  WITH gain AS (
    SELECT day, operator_id, currency, sum(opens) AS opens, sum(open_stake) AS open_stake,
           ${sums.map(([sum, of]) => `${of} AS ${sum}`).join(',\n           ')}
      FROM books_movements GROUP BY day, operator_id, currency
  ), every AS (
    SELECT day, operator_id, currency FROM books_days
     UNION SELECT day, operator_id, currency FROM gain
  )
  INSERT INTO books_days (day, operator_id, currency, ${KEPT.join(', ')})
  SELECT e.day, e.operator_id, e.currency, ${sums.map(([sum]) => `coalesce(g.${sum}, 0)`).join(', ')},
         coalesce(sum(g.opens) OVER so_far, 0), coalesce(sum(g.open_stake) OVER so_far, 0)
    FROM every e LEFT JOIN gain g USING (day, operator_id, currency)
  WINDOW so_far AS (PARTITION BY e.operator_id, e.currency ORDER BY e.day)
  ON CONFLICT (day, operator_id, currency) DO UPDATE
     SET ${KEPT.map((sum) => `${sum} = excluded.${sum}`).join(', ')}
   WHERE (${KEPT.map((sum) => `books_days.${sum}`).join(', ')})
         IS DISTINCT FROM (${KEPT.map((sum) => `excluded.${sum}`).join(', ')})
  RETURNING operator_id || '/' || currency || '/' || day AS subject`;
