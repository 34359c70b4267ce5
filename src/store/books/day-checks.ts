import { named } from '../sql/named.ts';
import { type Parameters, statement } from '../sql/statement.ts';
import { SUMS } from './book-statement.ts';
import type { Runner } from './books-journal.ts';
import { BOOKED_TO } from './checks.ts';
import { type Position, positionOf } from './position.ts';

/** Days from the day before yesterday on that are not closed: a closed day is guarded by its checksum. */
const OPEN_DAYS = `d.day >= current_date - 2 AND NOT EXISTS (
       SELECT 1 FROM books_statements s WHERE s.operator_id = d.operator_id AND s.day = d.day)`;

const OPERATORS = statement(
  'books-operators-of-open-days',
  {},
  `SELECT DISTINCT d.operator_id FROM books_days d WHERE ${OPEN_DAYS} ORDER BY d.operator_id`,
  (row) => row.text('operator_id'),
);

/** An operator's open days, as stored when the books had reached `bookedTo`. */
export interface OpenDays {
  readonly operatorId: string;
  /** The rows of `books_days`, as JSON. */
  readonly days: string;
  readonly firstDay: string;
  readonly lastDay: string;
  readonly bookedTo: Position;
}

const READ_DAYS = statement(
  'books-read-open-days',
  named({ operator_id: 'text' }),
  `
  SELECT d.days::text, d.first_day::text, d.last_day::text, c.written_in::text, c.operation_id, c.number
    FROM books_cursor c CROSS JOIN (
      SELECT json_agg(d) AS days, min(d.day) AS first_day, max(d.day) AS last_day
        FROM books_days d WHERE d.operator_id = :operator_id AND ${OPEN_DAYS}) d
   WHERE d.days IS NOT NULL`,
  (row) => ({
    days: row.text('days'),
    firstDay: row.text('first_day'),
    lastDay: row.text('last_day'),
    bookedTo: positionOf(row),
  }),
);

/** A position among an operator's movements, in the order of a statement's lines. */
export interface StretchEnd {
  readonly day: string;
  readonly confirmedAt: Date;
  readonly operationId: string;
  readonly sequence: number;
}

interface Stretch {
  readonly of: OpenDays;
  readonly after: StretchEnd;
  readonly rows: number;
}

/** The sums of a stretch of movements. */
export interface StretchSums {
  /** One row per day and currency, as JSON. */
  readonly sums: string;
  /** Where the next stretch begins; undefined if this was the last. */
  readonly next: StretchEnd | undefined;
}

const sums = Object.entries(SUMS);

/**
 * Sums an operator's next movements, without those booked after the days were read. One beyond the cursor was
 * not written by booking, and is included to show up.
 */
const SUM_STRETCH = statement(
  'books-sum-stretch',
  {
    operator_id: ['text', ({ of }) => of.operatorId],
    last_day: ['date', ({ of }) => of.lastDay],
    booked_in: ['xid8', ({ of }) => of.bookedTo.writtenIn],
    booked_operation_id: ['bigint', ({ of }) => of.bookedTo.operationId],
    booked_number: ['int', ({ of }) => of.bookedTo.number],
    day: ['date', ({ after }) => after.day],
    confirmed_at: ['timestamptz', ({ after }) => after.confirmedAt],
    operation_id: ['bigint', ({ after }) => after.operationId],
    sequence: ['int', ({ after }) => after.sequence],
    rows: ['int', ({ rows }) => rows],
  } satisfies Parameters<Stretch>,
  `
  WITH stretch AS MATERIALIZED (
    SELECT m.day, m.confirmed_at, m.operation_id, m.sequence, m.currency, m.kind, m.amount, m.is_freebet,
           (m.written_in, m.operation_id, m.number)
             <= (:booked_in, :booked_operation_id, :booked_number)
           OR (m.written_in, m.operation_id, m.number) > ${BOOKED_TO} AS counts
      FROM books_movements m
     WHERE m.operator_id = :operator_id AND m.day <= :last_day
       AND (m.day, m.confirmed_at, m.operation_id, m.sequence)
         > (:day, :confirmed_at, :operation_id, :sequence)
     ORDER BY m.day, m.confirmed_at, m.operation_id, m.sequence LIMIT :rows
  ), gain AS (
    SELECT day, currency,
           ${sums.map(([sum, of]) => `${of} AS ${sum}`).join(',\n           ')}
      FROM stretch WHERE counts GROUP BY day, currency
  )
  SELECT coalesce((SELECT json_agg(g) FROM gain g), '[]')::text AS sums,
         e.day::text, e.confirmed_at, e.operation_id, e.sequence
    FROM (SELECT) AS always
         LEFT JOIN (SELECT day, confirmed_at, operation_id, sequence FROM stretch
                     ORDER BY day DESC, confirmed_at DESC, operation_id DESC, sequence DESC
                     LIMIT 1) e ON (SELECT count(*) FROM stretch) = :rows`,
  (row): StretchSums => ({
    sums: row.text('sums'),
    next: row.isNull('day')
      ? undefined
      : {
          day: row.text('day'),
          confirmedAt: row.date('confirmed_at'),
          operationId: row.text('operation_id'),
          sequence: row.int('sequence'),
        },
  }),
);

interface Comparison {
  readonly of: OpenDays;
  /** `StretchSums.sums` of every stretch. */
  readonly sums: readonly string[];
  /** Whether differences are recorded as violations. */
  readonly isNoted: boolean;
}

/** Column list that reads a day and its sums from JSON. */
const AS_ROW = `(day DATE, currency TEXT, ${sums.map(([sum]) => `${sum} NUMERIC`).join(', ')})`;
const SHOWN = sums.map(([sum]) => sum).filter((sum) => sum !== 'freebet_stakes');

const COMPARE = statement(
  'books-compare-days',
  named({ operator_id: 'text', days: 'json', sums: 'json[]', is_noted: 'bool' }),
  `
  WITH gain AS (
    SELECT g.day, g.currency, ${sums.map(([sum]) => `sum(g.${sum}) AS ${sum}`).join(', ')}
      FROM unnest(:sums) AS stretch(sums)
     CROSS JOIN LATERAL json_to_recordset(stretch.sums) AS g${AS_ROW}
     GROUP BY g.day, g.currency
  ), compared AS (
    SELECT :operator_id || '/' || d.currency || '/' || d.day AS subject,
           ${sums.map(([sum]) => `d.${sum} IS DISTINCT FROM coalesce(g.${sum}, 0)`).join(' OR ')} AS is_wrong,
           concat_ws(' ', ${SHOWN.map((sum) => `d.${sum}`).join(', ')}) AS found,
           concat_ws(' ', ${SHOWN.map((sum) => `coalesce(g.${sum}, 0)`).join(', ')}) AS expected
      FROM json_to_recordset(:days) AS d${AS_ROW} LEFT JOIN gain g USING (day, currency)
  ), mended AS (
    DELETE FROM books_violations v USING compared c
     WHERE v.rule = 'day' AND v.subject = c.subject AND NOT c.is_wrong
  ), noted AS (
    INSERT INTO books_violations (rule, subject, operator_id, found, expected)
    SELECT 'day', subject, :operator_id, found, expected FROM compared WHERE is_wrong AND :is_noted
    ON CONFLICT (rule, subject) DO UPDATE SET found = excluded.found, expected = excluded.expected
  )
  SELECT count(*) FILTER (WHERE is_wrong)::int AS wrong FROM compared`,
  (row) => row.int('wrong'),
);

/** Compares the sums of open days with their movements, in bounded stretches. Every method throws GatewayError. */
export class DayChecks {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** Operators that have `OPEN_DAYS`. */
  async operators(): Promise<readonly string[]> {
    return await this.#runner.run(OPERATORS, {});
  }

  /** Undefined if the operator has none. */
  async openDays(operatorId: string): Promise<OpenDays | undefined> {
    const [found] = await this.#runner.run(READ_DAYS, { operatorId });
    return found === undefined ? undefined : { operatorId, ...found };
  }

  /** Sums at most `rows` movements. */
  async sumStretch(of: OpenDays, after: StretchEnd, rows: number): Promise<StretchSums> {
    const [found] = await this.#runner.run(SUM_STRETCH, { of, after, rows });
    return found ?? { sums: '[]', next: undefined };
  }

  /** Deletes violations that are gone and, with `isNoted`, records new ones. @returns how many days are wrong */
  async compare(comparison: Comparison): Promise<number> {
    const [wrong] = await this.#runner.run(COMPARE, { ...comparison, ...comparison.of });
    return wrong ?? 0;
  }
}
