import { isDay } from '../../domain/calendar.ts';
import { type Parameters, statement } from '../sql/statement.ts';
import type { Runner } from './books-journal.ts';
import { type DayTotals, TOTALS_COLUMNS, totalsOf } from './day-totals.ts';

/** One operator's day in one currency. */
export interface BooksDay extends DayTotals {
  readonly day: string;
  readonly operator: string;
  /** The day has a statement and never changes again. */
  readonly closed: boolean;
}

export interface DayQuery {
  readonly operator?: string | undefined;
  readonly currency?: string | undefined;
  /** First and last day, both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Default `oldest`, first. Within a day, operators and currencies are always ascending. */
  readonly order?: DayOrder | undefined;
  /** `nextCursor` of the previous page, requested in the same order. */
  readonly cursor?: string | undefined;
}

export const DAY_ORDERS = ['oldest', 'newest'] as const;
type DayOrder = (typeof DAY_ORDERS)[number];

export interface DayPage {
  readonly items: readonly BooksDay[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

const PAGE_SIZE = 1_000;

interface PagedDayQuery extends DayQuery {
  readonly after: readonly [day: string, operator: string, currency: string];
}

const PARAMETERS: Parameters<PagedDayQuery> = {
  operator: ['text', ({ operator }) => operator ?? null],
  currency: ['text', ({ currency }) => currency ?? null],
  from_day: ['date', ({ from }) => from ?? '-infinity'],
  to_day: ['date', ({ to }) => to ?? 'infinity'],
  after_day: ['date', ({ after }) => after[0]],
  after_operator: ['text', ({ after }) => after[1]],
  after_currency: ['text', ({ after }) => after[2]],
};

const listStatement = (name: string, range: string, direction: 'ASC' | 'DESC') =>
  statement(
    name,
    PARAMETERS,
    `
  SELECT d.day::text, d.operator_id, ${TOTALS_COLUMNS},
         EXISTS (SELECT 1 FROM books_statements s
                  WHERE s.operator_id = d.operator_id AND s.day = d.day) AS closed
    FROM books_days d
   WHERE ${range}
     AND (:operator IS NULL OR d.operator_id = :operator)
     AND (:currency IS NULL OR d.currency = :currency)
   ORDER BY d.day ${direction}, d.operator_id, d.currency LIMIT ${PAGE_SIZE + 1}`,
    (row): BooksDay => {
      const { currency, ...sums } = totalsOf(row);
      const [day, operator] = [row.text('day'), row.text('operator_id')];
      return { day, operator, currency, ...sums, closed: row.bool('closed') };
    },
  );

const LIST = {
  oldest: listStatement(
    'books-list-days',
    `d.day BETWEEN greatest(:from_day, :after_day) AND :to_day
     AND (d.day, d.operator_id, d.currency) > (:after_day, :after_operator, :after_currency)`,
    'ASC',
  ),
  newest: listStatement(
    'books-list-newest-days',
    `d.day BETWEEN :from_day AND least(:to_day, :after_day)
     AND (d.day < :after_day
          OR (d.operator_id, d.currency) > (:after_operator, :after_currency))`,
    'DESC',
  ),
};

/** Lists the stored sums of days. */
export class BooksDays {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** One page; undefined if `cursor` is not valid. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async list(query: DayQuery): Promise<DayPage | undefined> {
    const { order = 'oldest', cursor } = query;
    const after = cursor === undefined ? BEGINNING[order] : readCursor(cursor);
    if (after === undefined) return undefined;
    const rows = await this.#runner.run(LIST[order], { ...query, after });
    const items = rows.slice(0, PAGE_SIZE);
    const last = items.at(-1);
    const hasMore = rows.length > PAGE_SIZE && last !== undefined;
    return { items, nextCursor: hasMore ? cursorOf(last) : null };
  }
}

const BEGINNING = {
  oldest: ['-infinity', '', ''],
  newest: ['infinity', '', ''],
} as const satisfies Record<DayOrder, PagedDayQuery['after']>;

function cursorOf({ day, operator, currency }: BooksDay): string {
  return Buffer.from(JSON.stringify([day, operator, currency])).toString('base64url');
}

function readCursor(text: string): PagedDayQuery['after'] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!Array.isArray(value) || value.length !== 3) return undefined;
    const [day, operator, currency] = value.map((one: unknown) =>
      typeof one === 'string' && !one.includes('\0') ? one : undefined,
    );
    if (day === undefined || operator === undefined || currency === undefined) return undefined;
    return isDay(day) ? [day, operator, currency] : undefined;
  } catch (error) {
    // An invented cursor is reported as invalid.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
