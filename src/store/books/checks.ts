import { isPlain } from '../sql/amount-text.ts';
import { statement } from '../sql/statement.ts';
import type { Runner } from './books-journal.ts';
import { VIOLATION_RULES } from './violations.ts';

/** Movements read by one check. */
const CHECK_MAX = 2_000;

/** The cursor of the books, one subquery per value: a join would not use the index. */
export const BOOKED_TO = cursorAt('written_in', 'operation_id', 'number');
const CHECKED_TO = cursorAt('checked_in', 'checked_operation_id', 'checked_number');

function cursorAt(...columns: readonly string[]): string {
  return `(${columns.map((column) => `(SELECT ${column} FROM books_cursor)`).join(', ')})`;
}

/** Whether the journal of a bet's first movement is gone: of a bet that is known anew, it no longer says the stake. */
const IS_PRUNED = `(SELECT m.written_in <= (SELECT pruned_in FROM books_cursor) FROM books_movements m
                                              WHERE m.transaction_id = b.transaction_id AND m.sequence = 1)`;

/**
 * Compares the sums of each bet's next unchecked movements with the bet's state, and of bets found wrong before.
 * Both are one snapshot; a bet with an unbooked attempt is skipped. Arrays of ids (`= ANY (ARRAY(...))`), because
 * PostgreSQL could scan whole tables for a join, and one look-up a bet costs half as much again.
 */
export const CHECK_BETS = statement(
  'books-check-bets',
  {},
  `
  WITH next AS MATERIALIZED (
    SELECT m.transaction_id, m.written_in, m.operation_id, m.number
      FROM books_movements m
     WHERE (m.written_in, m.operation_id, m.number) > ${CHECKED_TO}
     ORDER BY m.written_in, m.operation_id, m.number LIMIT ${CHECK_MAX}
  ), again AS MATERIALIZED (
    SELECT subject AS transaction_id FROM books_violations WHERE rule = 'bet' ORDER BY id LIMIT ${CHECK_MAX}
  ), bet AS MATERIALIZED (
    SELECT b.transaction_id, b.operator_id,
           CASE WHEN b.rollback = 'confirmed' THEN 0
                WHEN b.place = 'unseen' AND ${IS_PRUNED} THEN NULL
                WHEN b.place <> 'accepted' THEN 0
                WHEN ${isPlain('b.amount')} THEN -b.amount::numeric END AS stake,
           -- An amount in another form (isPlain) is checked by the rebuild only.
           -- A result that a person resolved by hand is in the bet, but no wallet has confirmed it.
           -- IS NOT DISTINCT FROM: found by the operation. By statistics of during an outage PostgreSQL would read all
           -- that has been delivered since, for each bet.
           CASE WHEN (SELECT true FROM deliveries d
                       WHERE d.operation_id = b.standing_operation_id
                         AND d.state IS NOT DISTINCT FROM 'resolved' LIMIT 1) THEN NULL
                WHEN b.rollback = 'confirmed' OR b.settlement IN ('none', 'unsettled') THEN 0
                WHEN b.settlement = 'settled' AND ${isPlain('b.settlement_amount')}
                THEN b.settlement_amount::numeric END AS payout
      FROM bets b
     WHERE b.transaction_id = ANY (ARRAY(SELECT transaction_id FROM next UNION SELECT transaction_id FROM again))
  ), moved AS MATERIALIZED (
    SELECT transaction_id,
           sum(amount) FILTER (WHERE kind IN ('stake', 'stake_return')) AS staked,
           sum(amount) FILTER (WHERE kind IN ('payout', 'payout_reversal')) AS paid
      FROM books_movements
     WHERE transaction_id = ANY (ARRAY(SELECT transaction_id FROM bet)) GROUP BY transaction_id
  ), found AS MATERIALIZED (
    -- A bet may have no movements at all, or none of one kind.
    SELECT b.*, coalesce(m.staked, 0) AS staked, coalesce(m.paid, 0) AS paid,
           coalesce(coalesce(m.staked, 0) <> b.stake OR coalesce(m.paid, 0) <> b.payout, false) AS differs
      FROM bet b LEFT JOIN moved m USING (transaction_id)
  ), wrong AS MATERIALIZED (
    SELECT * FROM found f
     WHERE f.differs AND (
       SELECT true FROM operations o JOIN attempts a ON a.operation_id = o.id
        WHERE o.transaction_id = f.transaction_id AND a.confirmed
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
     WHERE (books_violations.found, books_violations.expected) <> (excluded.found, excluded.expected)
  )
  SELECT (SELECT count(*)::int FROM next) AS looked_at,
         (SELECT count(*)::int FROM wrong
           WHERE transaction_id IN (SELECT transaction_id FROM next)) AS wrong`,
  (row) => ({ lookedAt: row.int('looked_at'), wrong: row.int('wrong') }),
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
      WHERE a.confirmed
        AND (a.written_in, a.operation_id, a.number) > (c.written_in, c.operation_id, c.number)
      ORDER BY a.written_in, a.operation_id, a.number LIMIT 1) a`,
  (row) => row.int('seconds'),
);

/**
 * Compares new movements with their bets. A difference is a row of `books_violations` until it is gone. Every
 * method throws GatewayError `DATABASE_UNAVAILABLE`.
 */
export class BooksChecks {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** @returns how many movements were read, how many of their bets are wrong, and whether more movements wait */
  async checkBets(): Promise<{
    readonly lookedAt: number;
    readonly wrong: number;
    readonly isMore: boolean;
  }> {
    const [checked = { lookedAt: 0, wrong: 0 }] = await this.#runner.run(CHECK_BETS, {});
    return { ...checked, isMore: checked.lookedAt === CHECK_MAX };
  }

  /** How many violations are on record, by rule. */
  async violations() {
    return await this.#runner.run(COUNT, {});
  }

  /** Seconds since the first unbooked attempt was started; 0 if all are booked. */
  async lagSeconds(): Promise<number> {
    const [seconds] = await this.#runner.run(LAG, {});
    return Math.max(0, seconds ?? 0);
  }
}
