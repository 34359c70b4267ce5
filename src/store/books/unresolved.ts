import { IS_PLACE_UNRESOLVED } from '../bets/ended.ts';
import { named, namedColumns } from '../sql/named.ts';
import { batchStatement, noRow, type Parameters, statement } from '../sql/statement.ts';
import type { BooksTransaction } from './books-transaction.ts';

/** The days whose counts have changed, of every operator or of one. Reads only. */
function countStatement<Input>(
  name: string,
  parameters: Parameters<Input>,
  { since, ofOperator }: { readonly since: string; readonly ofOperator: string },
) {
  return statement(
    name,
    parameters,
    `
  WITH id AS (
    SELECT transaction_id FROM bets b WHERE ${IS_PLACE_UNRESOLVED} ${ofOperator}
    UNION SELECT transaction_id FROM bets WHERE settlement = 'unknown' AND rollback = 'none' ${ofOperator}
    -- From deliveries, not bets: a bet's rollback stays promised even after a person has resolved it.
    UNION SELECT transaction_id FROM deliveries
           WHERE state = 'live' AND operation = 'rollback' ${ofOperator}
    UNION SELECT transaction_id FROM deliveries
           WHERE state = 'pending' AND purpose = 'promise' AND operation <> 'update' ${ofOperator}
    UNION SELECT transaction_id FROM deliveries
           WHERE state = 'dead' AND operation <> 'update' ${ofOperator}
  ), today AS (
    SELECT (clock_timestamp() AT TIME ZONE :time_zone)::date AS day
  ), bet AS MATERIALIZED (
    SELECT b.operator_id, b.currency, (b.created_at AT TIME ZONE :time_zone)::date AS day, count(*) AS count
      FROM id JOIN bets b USING (transaction_id)
     WHERE b.currency IS NOT NULL AND b.operator_id IS NOT NULL ${ofOperator}
     GROUP BY 1, 2, 3
  ), open AS (
    SELECT o.day, o.operator_id, o.currency FROM books_days o, today
     WHERE o.day >= ${since} ${ofOperator}
    UNION SELECT today.day, bet.operator_id, bet.currency FROM bet, today
  ), now AS (
    SELECT o.day, o.operator_id, o.currency, coalesce(sum(bet.count), 0)::int AS count
      FROM open o LEFT JOIN bet ON bet.operator_id = o.operator_id AND bet.currency = o.currency
                               AND bet.day <= o.day
     GROUP BY o.day, o.operator_id, o.currency
  )
  SELECT now.day::text, now.operator_id, now.currency, now.count
    FROM now LEFT JOIN books_days d USING (day, operator_id, currency)
   WHERE d.unresolved IS DISTINCT FROM now.count
     AND NOT EXISTS (SELECT 1 FROM books_statements s
                      WHERE s.operator_id = now.operator_id AND s.day >= now.day)`,
    namedColumns({ day: 'text', operator_id: 'text', currency: 'text', count: 'int' }),
  );
}

interface Days {
  readonly timeZone: string;
}

/** Every day is closed within a week and a day, unless no worker has run. */
const RECENT = 'today.day - 8';

const COUNT = countStatement('books-count-unresolved', named({ time_zone: 'text' }), {
  since: RECENT,
  ofOperator: '',
});

interface DaysOfOperator extends Days {
  readonly operatorId: string;
  /** The day that is being closed. */
  readonly day: string;
}

const COUNT_OF_OPERATOR = countStatement(
  'books-count-unresolved-of-operator',
  named({ time_zone: 'text', operator_id: 'text', day: 'date' }),
  { since: `least(${RECENT}, :day)`, ofOperator: 'AND operator_id = :operator_id' },
);

/** Creates a day's row if it has an unresolved bet before it has a movement. */
const WRITE = batchStatement(
  'books-write-unresolved',
  named({ day: 'date', operator_id: 'text', currency: 'text', count: 'bigint' }),
  `
  INSERT INTO books_days (day, operator_id, currency, open_bets, open_stakes, unresolved)
  SELECT i.day, i.operator_id, i.currency, coalesce(before.open_bets, 0),
         coalesce(before.open_stakes, 0), i.count
    FROM :input
    LEFT JOIN LATERAL (SELECT d.open_bets, d.open_stakes FROM books_days d
                        WHERE d.operator_id = i.operator_id AND d.currency = i.currency
                          AND d.day < i.day ORDER BY d.day DESC LIMIT 1) before ON true
   WHERE NOT EXISTS (SELECT 1 FROM books_statements s
                      WHERE s.operator_id = i.operator_id AND s.day >= i.day)
  ON CONFLICT (day, operator_id, currency) DO UPDATE SET unresolved = excluded.unresolved`,
  noRow,
);

/**
 * Recounts the unresolved bets of each recent open day: those with an unknown outcome or an unconfirmed delivery.
 * Counting takes long, so the books are locked only to write.
 * @param books if begun with `prepared`, this locks them once a count has changed
 */
export async function countUnresolved(
  books: BooksTransaction,
  days: Days | DaysOfOperator,
): Promise<void> {
  const changed =
    'operatorId' in days ? await books.run(COUNT_OF_OPERATOR, days) : await books.run(COUNT, days);
  if (changed.length === 0) return;
  await books.lock();
  await books.run(WRITE, changed);
}
