import { noRow, type Parameters, statement } from '../statement.ts';
import { SUMS } from './book-statement.ts';
import type { Runner } from './books-journal.ts';
import { NOTE_VIOLATION, VIOLATION_RULES, type Violation } from './violations.ts';

/** Movements looked at in one check. */
const CHECK_MAX = 2_000;

/** Amounts as every currency has them; what is written otherwise is checked by the rebuild alone. */
const isPlain = (column: string) =>
  // A bound within the pattern (`{1,100}`) takes fifteen times as long.
  `length(${column}) <= 200 AND ${column} ~ '^[0-9]+(\\.[0-9]+)?$'`;

/** Where the books stand, each value asked for itself: joined, it would not lead into an index. */
const BOOKED_TO = cursorAt('written_in', 'operation_id', 'number');
const CHECKED_TO = cursorAt('checked_in', 'checked_operation_id', 'checked_number');

function cursorAt(...columns: readonly string[]): string {
  return `(${columns.map((column) => `(SELECT ${column} FROM books_cursor)`).join(', ')})`;
}

/**
 * Takes the next movements that nobody has checked, and compares the sums of their bets with what the
 * bets say. One snapshot shows both: a bet that differs because something of it is confirmed and not
 * yet booked is left alone, its next movement brings it here again. Each bet is asked for by itself:
 * joined, a few thousand of them may look to PostgreSQL like a reason to read whole tables.
 */
const CHECK_BETS = statement(
  'books-check-bets',
  {},
  `
  WITH next AS MATERIALIZED (
    SELECT m.transaction_id, m.written_in, m.operation_id, m.number
      FROM books_movements m
     WHERE (m.written_in, m.operation_id, m.number) > ${CHECKED_TO}
     ORDER BY m.written_in, m.operation_id, m.number LIMIT ${CHECK_MAX}
  ), bet AS (
    SELECT b.*
      FROM (SELECT DISTINCT transaction_id FROM next) n CROSS JOIN LATERAL (
        SELECT b.transaction_id, b.operator_id,
               CASE WHEN b.rollback = 'confirmed' OR b.place <> 'accepted' THEN 0
                    WHEN ${isPlain('b.amount')} THEN -b.amount::numeric END AS stake,
               -- What a person put right by hand stands at the bet, and no wallet has confirmed it.
               CASE WHEN (SELECT true FROM deliveries d
                           WHERE d.operation_id = b.standing_operation_id AND d.state = 'resolved'
                           LIMIT 1) THEN NULL
                    WHEN b.rollback = 'confirmed' OR b.settlement IN ('none', 'unsettled') THEN 0
                    WHEN b.settlement = 'settled' AND ${isPlain('b.settlement_amount')}
                    THEN b.settlement_amount::numeric END AS payout
          FROM bets b WHERE b.transaction_id = n.transaction_id LIMIT 1) b
  ), found AS MATERIALIZED (
    SELECT b.*, m.staked, m.paid,
           coalesce(m.staked <> b.stake OR m.paid <> b.payout, false) AS differs
      FROM bet b CROSS JOIN LATERAL (
        SELECT coalesce(sum(amount) FILTER (WHERE kind IN ('stake', 'stake_return')), 0) AS staked,
               coalesce(sum(amount) FILTER (WHERE kind IN ('payout', 'payout_reversal')), 0) AS paid
          FROM books_movements WHERE transaction_id = b.transaction_id) m
  ), wrong AS MATERIALIZED (
    SELECT * FROM found f
     WHERE f.differs AND (
       SELECT true FROM operations o JOIN attempts a ON a.operation_id = o.id
        WHERE o.transaction_id = f.transaction_id AND a.confirmed IS NOT FALSE
          AND (a.written_in, a.operation_id, a.number) > ${BOOKED_TO} LIMIT 1) IS NULL
  ), mended AS (
    DELETE FROM books_violations v USING found f
     WHERE v.rule = 'bet' AND v.subject = f.transaction_id AND NOT f.differs
  ), checked AS (
    UPDATE books_cursor c
       SET checked_in = l.written_in, checked_operation_id = l.operation_id,
           checked_number = l.number
      FROM (SELECT * FROM next ORDER BY written_in DESC, operation_id DESC, number DESC LIMIT 1) l
  ), noted AS (
    INSERT INTO books_violations (rule, subject, operator_id, found, expected)
    SELECT 'bet', w.transaction_id, w.operator_id,
           'stake ' || w.staked || ', result ' || w.paid,
           'stake ' || coalesce(w.stake::text, '?') || ', result ' || coalesce(w.payout::text, '?')
      FROM wrong w
    ON CONFLICT (rule, subject) DO UPDATE SET found = excluded.found, expected = excluded.expected
  )
  SELECT (SELECT count(*)::int FROM next) AS looked_at, (SELECT count(*)::int FROM wrong) AS wrong`,
  (row) => ({ lookedAt: row.int('looked_at'), wrong: row.int('wrong') }),
);

const sums = Object.entries(SUMS);
const differs = sums.map(([sum]) => `d.${sum} IS DISTINCT FROM g.${sum}`).join(' OR ');

/** Of days that something was booked into lately: a closed one is sealed. */
const OPEN_DAYS = `d.day >= current_date - 2 AND NOT EXISTS (
       SELECT 1 FROM books_statements s WHERE s.operator_id = d.operator_id AND s.day = d.day)`;

const OPERATORS_OF_OPEN_DAYS = statement(
  'books-operators-of-open-days',
  {},
  `SELECT DISTINCT d.operator_id FROM books_days d WHERE ${OPEN_DAYS} ORDER BY d.operator_id`,
  (row) => row.text('operator_id'),
);

/** One operator's open days: their sums against their movements, in one snapshot. */
const CHECK_DAYS = statement(
  'books-check-days',
  { operator_id: ['text', (operatorId) => operatorId] } satisfies Parameters<string>,
  `
  WITH day AS MATERIALIZED (
    SELECT d.* FROM books_days d WHERE d.operator_id = :operator_id AND ${OPEN_DAYS}
  ), gain AS (
    SELECT m.day, m.operator_id, m.currency,
           ${sums.map(([sum, of]) => `${of} AS ${sum}`).join(',\n           ')}
      FROM books_movements m
     WHERE (m.operator_id, m.day) IN (SELECT operator_id, day FROM day)
     GROUP BY m.day, m.operator_id, m.currency
  ), compared AS (
    SELECT d.operator_id, d.operator_id || '/' || d.currency || '/' || d.day AS subject,
           g.day IS NULL AND (d.bets <> 0 OR d.stakes <> 0 OR d.payouts <> 0
             OR d.payout_reversals <> 0 OR d.stake_returns <> 0 OR d.freebet_stakes <> 0)
           OR g.day IS NOT NULL AND (${differs}) AS is_wrong,
           concat_ws(' ', d.bets, d.stakes, d.payouts, d.payout_reversals, d.stake_returns) AS found,
           concat_ws(' ', g.bets, g.stakes, g.payouts, g.payout_reversals, g.stake_returns) AS expected
      FROM day d LEFT JOIN gain g USING (day, operator_id, currency)
  ), mended AS (
    DELETE FROM books_violations v USING compared c
     WHERE v.rule = 'day' AND v.subject = c.subject AND NOT c.is_wrong
  ), noted AS (
    INSERT INTO books_violations (rule, subject, operator_id, found, expected)
    SELECT 'day', subject, operator_id, found, expected FROM compared WHERE is_wrong
    ON CONFLICT (rule, subject) DO UPDATE SET found = excluded.found, expected = excluded.expected
  )
  SELECT count(*) FILTER (WHERE is_wrong)::int AS wrong FROM compared`,
  (row) => row.int('wrong'),
);

const COUNT = statement(
  'books-count-violations',
  {},
  `SELECT rule, count(*)::int AS count FROM books_violations GROUP BY rule`,
  (row) => ({ rule: row.oneOf('rule', VIOLATION_RULES), count: row.int('count') }),
);

const LAG = statement(
  'books-lag',
  {},
  `
  SELECT extract(epoch FROM clock_timestamp() - a.started_at)::float8 AS seconds
    FROM books_cursor c
   CROSS JOIN LATERAL (
     SELECT a.started_at FROM attempts a
      WHERE a.confirmed IS NOT FALSE
        AND (a.written_in, a.operation_id, a.number) > (c.written_in, c.operation_id, c.number)
      ORDER BY a.written_in, a.operation_id, a.number LIMIT 1) a`,
  (row) => row.int('seconds'),
);

const FORGET_MENDED = statement(
  'books-forget-statement-violations',
  {},
  `DELETE FROM books_violations WHERE rule = 'statement'`,
  noRow,
);

/**
 * Holds the books to what they are made of, all the time, over what is new. What it finds is a row of
 * `books_violations` until it is right again. Every method throws GatewayError
 * `DATABASE_UNAVAILABLE`.
 */
export class BooksChecks {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** @returns how many movements were looked at, and of how many bets they are wrong */
  async checkBets(): Promise<{ readonly lookedAt: number; readonly wrong: number }> {
    const [checked] = await this.#runner.run(CHECK_BETS, {});
    return checked ?? { lookedAt: 0, wrong: 0 };
  }

  /** Those with open days in the last two: a closed one is sealed. */
  async operatorsOfOpenDays(): Promise<readonly string[]> {
    return await this.#runner.run(OPERATORS_OF_OPEN_DAYS, {});
  }

  /** One operator's open days: it takes a look at all of their movements. @returns how many sums are wrong */
  async checkDays(operatorId: string): Promise<number> {
    const [wrong] = await this.#runner.run(CHECK_DAYS, operatorId);
    return wrong ?? 0;
  }

  /** Puts on record which closed statements are not what was closed, and no others. */
  async noteStatements(changed: readonly Violation[]): Promise<void> {
    await this.#runner.run(FORGET_MENDED, {});
    if (changed.length > 0) await this.#runner.run(NOTE_VIOLATION, changed);
  }

  /** What is wrong now, by rule. */
  async violations() {
    return await this.#runner.run(COUNT, {});
  }

  /** Seconds since the oldest attempt that is not booked was begun; 0 where all are. */
  async lagSeconds(): Promise<number> {
    const [seconds] = await this.#runner.run(LAG, {});
    return Math.max(0, seconds ?? 0);
  }
}
