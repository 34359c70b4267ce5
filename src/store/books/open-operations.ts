import { IS_PLACE_UNRESOLVED } from '../bets/ended.ts';
import { LEASE_SECONDS } from '../bets/lease.ts';
import { named } from '../sql/named.ts';
import { statement } from '../sql/statement.ts';
import type { Runner } from './books-journal.ts';
import type { DueDay } from './due-days.ts';

/** One operator's day. */
export type WhichDay = Pick<DueDay, 'operatorId' | 'day'>;

export const WHICH_DAY = { operator_id: 'text', day: 'date' } as const;
export const DAY_BOUNDS = {
  ...WHICH_DAY,
  starts_at: 'timestamptz',
  ends_at: 'timestamptz',
} as const;

/** How many open operations a statement lists. */
const OPEN_MAX = 1_000;

/**
 * Operations requested before a day's end and still open. Those that may belong to the day keep it open; a dead
 * letter does not, nor a result last attempted before the day, which may stay unknown.
 */
const OPEN_OPERATIONS = `
    SELECT b.transaction_id, b.busy_operation AS operation, 'on its way to the wallet' AS why,
           b.busy_until - make_interval(secs => ${LEASE_SECONDS}) AS since, true AS keeps_open
      FROM bets b
     WHERE b.busy_until < :ends_at + make_interval(secs => ${LEASE_SECONDS})
       AND b.operator_id = :operator_id
    UNION ALL
    SELECT b.transaction_id, 'place', 'of unknown outcome, not rolled back yet', b.created_at, true
      FROM bets b
     WHERE ${IS_PLACE_UNRESOLVED}
       AND b.created_at < :ends_at AND b.operator_id = :operator_id
    UNION ALL
    SELECT b.transaction_id, coalesce(b.settlement_type, 'result'), 'of unknown outcome', b.late_at,
           coalesce(b.late_at >= :starts_at, false)
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

/** Stops at the first match: while a wallet is down there are millions, and this runs every few seconds. */
const KEEPS_OPEN = statement(
  'books-keeps-open',
  named({ operator_id: 'text', starts_at: 'timestamptz', ends_at: 'timestamptz' }),
  `SELECT EXISTS (SELECT 1 FROM (${OPEN_OPERATIONS}) open WHERE keeps_open) AS keeps_open`,
  (row) => row.bool('keeps_open'),
);

/** All open operations, to be stored with the day's statement. */
export const OPEN = statement(
  'books-open-operations',
  named(DAY_BOUNDS),
  `
  WITH open AS (${OPEN_OPERATIONS}
  )
  SELECT EXISTS (SELECT 1 FROM books_statements s
                  WHERE s.operator_id = :operator_id AND s.day = :day) AS is_closed,
         (SELECT count(*)::int FROM open) AS count,
         (SELECT count(*)::int FROM open WHERE keeps_open) AS keeping_open,
         (SELECT json_agg(json_build_object('transactionId', o.transaction_id,
                   'operation', o.operation, 'why', o.why,
                   'since', to_char(coalesce(o.since, :ends_at) AT TIME ZONE 'UTC',
                                    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
            FROM (SELECT * FROM open ORDER BY since, transaction_id LIMIT ${OPEN_MAX}) o)::text AS open`,
  (row) => ({
    isClosed: row.bool('is_closed'),
    count: row.int('count'),
    keepingOpen: row.int('keeping_open'),
    /** JSON, as stored. */
    open: row.textOrNull('open') ?? '[]',
  }),
);

/** Whether an open operation keeps a day from being closed. @throws GatewayError */
export async function keepsOpen(runner: Runner, due: DueDay): Promise<boolean> {
  const [isKeptOpen] = await runner.run(KEEPS_OPEN, due);
  return isKeptOpen === true;
}
