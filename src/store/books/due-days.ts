import { named, namedColumns } from '../sql/named.ts';
import { statement } from '../sql/statement.ts';
import type { Runner } from './books-journal.ts';
import { dayStart } from './day-start.ts';

/** An operator's earliest open day, which is now due to be closed. */
export interface DueDay {
  readonly operatorId: string;
  readonly day: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  /** It is to be closed now, even with operations open. */
  readonly isOverdue: boolean;
}

interface Due {
  readonly timeZone: string;
  readonly closeAfterMinutes: number;
  readonly closeAtLatestMinutes: number;
}

/**
 * One index probe per operator (a loose scan), however many days each one has.
 */
const DUE = statement(
  'books-due-days',
  named({
    time_zone: 'text',
    close_after_minutes: 'int',
    close_at_latest_minutes: 'int',
  }),
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
         clock_timestamp() >= ends_at + make_interval(mins => :close_at_latest_minutes) AS is_overdue
    FROM bounds
   WHERE clock_timestamp() >= ends_at + make_interval(mins => :close_after_minutes)`,
  namedColumns({
    operator_id: 'text',
    day: 'text',
    starts_at: 'date',
    ends_at: 'date',
    is_overdue: 'bool',
  }),
);

/** Days due to be closed, one per operator. @throws GatewayError */
export async function dueDays(runner: Runner, due: Due): Promise<readonly DueDay[]> {
  return await runner.run(DUE, due);
}
