import type { Movement } from '../../domain/movements.ts';
import type { SqlValue } from '../sql/sql-value.ts';
import { type Parameters, statement } from '../sql/statement.ts';
import type { Position } from './position.ts';

/** One row of `books_movements`. */
export interface BookedMovement extends Movement {
  readonly transactionId: string;
  readonly sequence: number;
  readonly operatorId: string;
  readonly playerId: string;
  readonly currency: string;
  readonly at: Position;
  readonly confirmedAt: Date;
  readonly belongsTo: string;
  readonly day: string;
}

export interface Booking {
  /** That of the books when they were read; nothing is written if it has changed since. */
  readonly version: string;
  readonly to: Position;
  readonly timeZone: string;
  readonly movements: readonly BookedMovement[];
}

const columns: Parameters<BookedMovement> = {
  transaction_id: ['text', ({ transactionId }) => transactionId],
  sequence: ['int', ({ sequence }) => sequence],
  operator_id: ['text', ({ operatorId }) => operatorId],
  player_id: ['bigint', ({ playerId }) => playerId],
  currency: ['text', ({ currency }) => currency],
  kind: ['text', ({ kind }) => kind],
  amount: ['numeric', ({ amount }) => amount],
  is_freebet: ['bool', ({ isFreebet }) => isFreebet],
  opens: ['int', ({ opens }) => opens],
  open_stake: ['numeric', ({ openStake }) => openStake],
  operation: ['text', ({ operation }) => operation],
  operation_id: ['bigint', ({ at }) => at.operationId],
  number: ['int', ({ at }) => at.number],
  written_in: ['xid8', ({ at }) => at.writtenIn],
  confirmed_at: ['timestamptz', ({ confirmedAt }) => confirmedAt],
  belongs_to: ['date', ({ belongsTo }) => belongsTo],
  day: ['date', ({ day }) => day],
};

const names = Object.keys(columns);

/** One array parameter per column, such as `:all_amount`. */
const arrays: Parameters<Booking> = Object.fromEntries(
  Object.entries(columns).map(([column, [type, of]]) => [
    `all_${column}`,
    [`${type}[]`, ({ movements }: Booking): SqlValue => movements.map(of)] as const,
  ]),
);

/** What movements add to each sum of their day, as SQL over `books_movements`. */
export const SUMS = {
  bets: `count(*) FILTER (WHERE kind = 'stake')`,
  stakes: `coalesce(-sum(amount) FILTER (WHERE kind = 'stake' AND NOT is_freebet), 0)`,
  payouts: `coalesce(sum(amount) FILTER (WHERE kind = 'payout'), 0)`,
  payout_reversals: `coalesce(-sum(amount) FILTER (WHERE kind = 'payout_reversal'), 0)`,
  stake_returns: `coalesce(sum(amount) FILTER (WHERE kind = 'stake_return' AND NOT is_freebet), 0)`,
  freebet_stakes: `coalesce(-sum(amount) FILTER (WHERE kind = 'stake' AND is_freebet), 0)`,
} as const;

const sums = Object.keys(SUMS);
const sumsOf = Object.entries(SUMS)
  .map(([sum, of]) => `${of} AS ${sum}`)
  .join(',\n           ');

/**
 * Writes movements, the sums of their days and the cursor, or nothing if the books have changed since they were
 * read. @returns a row if it was booked
 */
export const BOOK = statement(
  'books-book',
  {
    version: ['text', ({ version }) => version],
    to_written_in: ['xid8', ({ to }) => to.writtenIn],
    to_operation_id: ['bigint', ({ to }) => to.operationId],
    to_number: ['int', ({ to }) => to.number],
    time_zone: ['text', ({ timeZone }) => timeZone],
    ...arrays,
  } satisfies Parameters<Booking>,
  `
  WITH moved AS (
    UPDATE books_cursor
       SET written_in = :to_written_in, operation_id = :to_operation_id, number = :to_number,
           time_zone = :time_zone, version = version + 1
     WHERE version::text = :version
    RETURNING id
  ), movement AS (
    INSERT INTO books_movements (${names.join(', ')})
    SELECT i.* FROM (SELECT ${names.map((name) => `unnest(:all_${name}) AS ${name}`).join(', ')}) AS i
     WHERE EXISTS (SELECT 1 FROM moved)
    RETURNING day, operator_id, currency, kind, amount, is_freebet, opens, open_stake
  ), gain AS (
    SELECT day, operator_id, currency, sum(opens) AS opens, sum(open_stake) AS open_stake,
           ${sumsOf}
      FROM movement GROUP BY day, operator_id, currency
  ), running AS MATERIALIZED (
    -- A bet open at the end of a day counts as open at the end of each later day too.
    SELECT g.*, sum(opens) OVER later AS opens_by, sum(open_stake) OVER later AS open_stake_by,
           lead(day) OVER later AS next_day
      FROM gain g WINDOW later AS (PARTITION BY operator_id, currency ORDER BY day)
  ), grown AS (
    UPDATE books_days d
       SET ${sums.map((sum) => `${sum} = d.${sum} + CASE WHEN d.day = r.day THEN r.${sum} ELSE 0 END`).join(',\n           ')},
           open_bets = d.open_bets + r.opens_by, open_stakes = d.open_stakes + r.open_stake_by
      FROM running r
     WHERE d.operator_id = r.operator_id AND d.currency = r.currency AND d.day >= r.day
       AND (r.next_day IS NULL OR d.day < r.next_day)
  ), begun AS (
    INSERT INTO books_days (day, operator_id, currency, ${sums.join(', ')}, open_bets, open_stakes)
    SELECT r.day, r.operator_id, r.currency, ${sums.map((sum) => `r.${sum}`).join(', ')},
           coalesce(before.open_bets, 0) + r.opens_by,
           coalesce(before.open_stakes, 0) + r.open_stake_by
      FROM running r
      LEFT JOIN LATERAL (SELECT p.open_bets, p.open_stakes FROM books_days p
                          WHERE p.operator_id = r.operator_id AND p.currency = r.currency
                            AND p.day < r.day
                          ORDER BY p.day DESC LIMIT 1) before ON true
     WHERE NOT EXISTS (SELECT 1 FROM books_days d WHERE d.day = r.day
                        AND d.operator_id = r.operator_id AND d.currency = r.currency)
  )
  SELECT id FROM moved`,
  (row) => row.int('id'),
);
