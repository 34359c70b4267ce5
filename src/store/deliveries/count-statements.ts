import { type Columns, type Parameters, statement } from '../sql/statement.ts';

const countOf = (row: Columns) => ({
  operator: row.text('operator'),
  operation: row.text('operation'),
  state: row.text('state'),
  count: row.int('count'),
});

const ENDED = `state IN ('delivered', 'refused', 'superseded', 'resolved')`;

/**
 * The end of a stretch of time in which `rows` deliveries ended, or a few more if several ended in the same
 * instant. With fewer, the stretch lasts until `until`.
 */
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

/** Deliveries that ended in a stretch of time. An ended delivery stays ended, so the counts can be added up. */
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
  // What is committed after this moment is counted in the next stretch.
  `SELECT clock_timestamp() - interval '2 seconds' AS until`,
  (row) => row.date('until'),
);
