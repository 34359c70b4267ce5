import { IS_PLACE_UNRESOLVED } from '../bets/ended.ts';
import { type Columns, noRow, type Parameters, statement } from '../sql/statement.ts';
import { isOpen } from './open-of-bet.ts';

/** May be sent once due. `statement_timestamp()` is constant within a statement, so the index scan can stop there. */
export const READY = `d.operator_id = :operator_id AND d.state = 'pending' AND b.busy_attempt IS NULL
       -- Money operations of a bet go in order; updates block nothing.
       AND (d.operation = 'update' OR NOT EXISTS (
             SELECT 1 FROM deliveries e
              WHERE e.transaction_id = d.transaction_id AND ${isOpen('e')}
                AND e.operation <> 'update' AND e.id - d.id < 0 OFFSET 0))`;

const ofOperator: Parameters<{ readonly operatorId: string }> = {
  operator_id: ['text', ({ operatorId }) => operatorId],
};

/** When each operator's next delivery is due: one index probe per operator, however many rows it has. */
export const DUE_OPERATORS = statement(
  'delivery-open-operators',
  {},
  `
  WITH RECURSIVE open AS (
    (SELECT operator_id, next_attempt_at FROM deliveries WHERE state IN ('live', 'pending')
      ORDER BY operator_id, next_attempt_at LIMIT 1)
    UNION ALL
    SELECT following.operator_id, following.next_attempt_at
      FROM open CROSS JOIN LATERAL (
        SELECT d.operator_id, d.next_attempt_at FROM deliveries d
         WHERE d.state IN ('live', 'pending') AND d.operator_id > open.operator_id
         ORDER BY d.operator_id, d.next_attempt_at LIMIT 1) following
  )
  SELECT operator_id, extract(epoch FROM next_attempt_at)::float8 * 1000 AS next_at_ms,
         extract(epoch FROM next_attempt_at - clock_timestamp())::float8 * 1000 AS next_in_ms
    FROM open`,
  (row) => ({
    operatorId: row.text('operator_id'),
    nextAtMs: row.int('next_at_ms'),
    nextInMs: row.int('next_in_ms'),
  }),
);

/** Makes deliveries in back-off due, because the operator takes calls again. */
export const WAKE = statement(
  'delivery-wake',
  {
    ...ofOperator,
    limit: ['int', ({ limit }) => limit],
  } satisfies Parameters<{ readonly operatorId: string; readonly limit: number }>,
  `
  WITH later AS (
    SELECT d.id FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
     WHERE d.operator_id = :operator_id AND d.state = 'pending'
       AND d.next_attempt_at > statement_timestamp() AND b.busy_attempt IS NULL AND NOT d.held
       -- A confirmation waits on purpose, not because the wallet was unavailable.
       AND d.purpose = 'promise'
     ORDER BY d.next_attempt_at LIMIT :limit FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE deliveries SET next_attempt_at = statement_timestamp()
   WHERE id = ANY (ARRAY(SELECT id FROM later)) RETURNING id`,
  (row) => row.text('id'),
);

/** Makes the operator's next delivery due, so that a half-open breaker has a call to test. */
export const NUDGE = statement(
  'delivery-nudge',
  ofOperator,
  `
  WITH next AS (
    SELECT d.id FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
     WHERE ${READY} AND NOT d.held
       AND d.operation <> 'update' AND d.purpose = 'promise'
     ORDER BY d.next_attempt_at LIMIT 1 FOR UPDATE OF d SKIP LOCKED
  )
  UPDATE deliveries SET next_attempt_at = least(next_attempt_at, clock_timestamp())
   WHERE id = ANY (ARRAY(SELECT id FROM next))`,
  noRow,
);

/** Places that should have been rolled back by now, each with the request that was sent. */
export const OVERDUE_UNKNOWN = statement(
  'delivery-overdue-unknown',
  {
    operator_ids: ['text[]', ({ ages }) => [...ages.keys()]],
    ages_seconds: ['float8[]', ({ ages }) => [...ages.values()].map((ageMs) => ageMs / 1000)],
    limit: ['int', ({ limit }) => limit],
  } satisfies Parameters<{ readonly ages: ReadonlyMap<string, number>; readonly limit: number }>,
  `
  SELECT b.transaction_id, o.body
    FROM bets b
    JOIN unnest(:operator_ids, :ages_seconds) AS age(operator_id, seconds)
      ON age.operator_id = b.operator_id
    -- The last one is the one that was sent: earlier places with other tokens may have been refused.
    JOIN LATERAL (SELECT body FROM operations
                   WHERE transaction_id = b.transaction_id AND operation = 'place' AND NOT is_copy
                   ORDER BY id DESC LIMIT 1) o ON true
   WHERE ${IS_PLACE_UNRESOLVED}
     AND b.created_at < statement_timestamp() - make_interval(secs => age.seconds)
   ORDER BY b.created_at LIMIT :limit`,
  (row) => ({ transactionId: row.text('transaction_id'), body: row.bytes('body') }),
);

const countOf = (row: Columns) => ({
  operator: row.text('operator'),
  operation: row.text('operation'),
  state: row.text('state'),
  count: row.int('count'),
});

const ENDED = `state IN ('delivered', 'refused', 'superseded', 'resolved')`;

/** When about `rows` deliveries had ended, or `until` if there are fewer; more, if several ended at one instant. */
export const END_OF_STRETCH = statement(
  'delivery-end-of-stretch',
  {
    from: ['timestamptz', ({ from }) => from],
    until: ['timestamptz', ({ until }) => until],
    rows: ['int', ({ rows }) => rows],
  } satisfies Parameters<{ readonly from: Date; readonly until: Date; readonly rows: number }>,
  `
  SELECT coalesce((SELECT settled_at FROM deliveries
                    WHERE ${ENDED} AND settled_at > :from AND settled_at <= :until
                    ORDER BY settled_at OFFSET :rows - 1 LIMIT 1), :until) AS until`,
  (row) => row.date('until'),
);

/** Deliveries that ended in a stretch of time. They stay ended, so the counts can be added up. */
export const COUNT_ENDED = statement(
  'delivery-count-ended',
  {
    from: ['timestamptz', ({ from }) => from],
    until: ['timestamptz', ({ until }) => until],
  } satisfies Parameters<{ readonly from: Date; readonly until: Date }>,
  `
  SELECT operator_id AS operator, operation, state, count(*)::int AS count
    FROM deliveries
   WHERE ${ENDED} AND purpose = 'promise'
     AND settled_at > :from AND settled_at <= :until
   GROUP BY 1, 2, 3`,
  countOf,
);

export const COUNTABLE_UNTIL = statement(
  'delivery-countable-until',
  {},
  // Later commits are counted in the next stretch.
  `SELECT clock_timestamp() - interval '2 seconds' AS until`,
  (row) => row.date('until'),
);
