import { noRow, type Parameters, statement } from '../statement.ts';

interface Which {
  /** Undefined: of every operator. */
  readonly operatorId: string | undefined;
  readonly timeZone: string;
}

/**
 * Counts anew, for every day that is not closed, the bets of its end or before of which the wallet has
 * not said, or not confirmed, what it holds. A day begins with the first bet that it has to tell of.
 */
export const COUNT_UNRESOLVED_BETS = statement(
  'books-count-unresolved',
  {
    operator_id: ['text', ({ operatorId }) => operatorId ?? null],
    time_zone: ['text', ({ timeZone }) => timeZone],
  } satisfies Parameters<Which>,
  `
  WITH id AS (
    SELECT transaction_id FROM bets
     WHERE (place = 'unknown' OR place = 'accepted' AND place_answered_unknown) AND rollback = 'none'
    UNION SELECT transaction_id FROM bets WHERE settlement = 'unknown' AND rollback = 'none'
    UNION SELECT transaction_id FROM bets WHERE rollback = 'promised'
    UNION SELECT transaction_id FROM deliveries
           WHERE state = 'pending' AND purpose = 'promise' AND operation <> 'update'
    UNION SELECT transaction_id FROM deliveries WHERE state = 'dead' AND operation <> 'update'
  ), bet AS MATERIALIZED (
    SELECT b.operator_id, b.currency, (b.created_at AT TIME ZONE :time_zone)::date AS day
      FROM id JOIN bets b USING (transaction_id)
     WHERE b.currency IS NOT NULL AND b.operator_id = coalesce(:operator_id, b.operator_id)
  ), begun AS (
    INSERT INTO books_days (day, operator_id, currency, open_bets, open_stakes, unresolved)
    SELECT today.day, u.operator_id, u.currency, coalesce(before.open_bets, 0),
           coalesce(before.open_stakes, 0), u.count
      FROM (SELECT operator_id, currency, count(*) FROM bet GROUP BY 1, 2) u
     CROSS JOIN (SELECT (clock_timestamp() AT TIME ZONE :time_zone)::date AS day) today
      LEFT JOIN LATERAL (SELECT d.open_bets, d.open_stakes FROM books_days d
                          WHERE d.operator_id = u.operator_id AND d.currency = u.currency
                            AND d.day < today.day ORDER BY d.day DESC LIMIT 1) before ON true
     WHERE NOT EXISTS (SELECT 1 FROM books_statements s
                        WHERE s.operator_id = u.operator_id AND s.day >= today.day)
    ON CONFLICT (day, operator_id, currency) DO NOTHING
  )
  UPDATE books_days d SET unresolved = now.count
    FROM (SELECT o.day, o.operator_id, o.currency, count(bet.day) AS count
            FROM (SELECT day, operator_id, currency FROM books_days
                   WHERE day >= (clock_timestamp() AT TIME ZONE :time_zone)::date - 8
                     AND operator_id = coalesce(:operator_id, operator_id)) o
            LEFT JOIN bet ON bet.operator_id = o.operator_id AND bet.currency = o.currency
                         AND bet.day <= o.day
           GROUP BY o.day, o.operator_id, o.currency) now
   WHERE d.day = now.day AND d.operator_id = now.operator_id AND d.currency = now.currency
     AND d.unresolved <> now.count
     AND NOT EXISTS (SELECT 1 FROM books_statements s
                      WHERE s.operator_id = d.operator_id AND s.day = d.day)`,
  noRow,
);
