import { IS_PLACE_UNRESOLVED } from '../bets/ended.ts';
import { operatorsIn } from '../sql/operators-in.ts';
import { type Columns, type Parameters, statement, type TypedStatement } from '../sql/statement.ts';
import { isOpen } from './open-of-bet.ts';

/** How many entries of one operator, operation and state a piece contains. */
export interface PieceRow {
  readonly operator: string;
  readonly operation: string;
  readonly state: string;
  readonly count: number;
  /** When the oldest promise among them was made, epoch milliseconds; undefined if none is a promise. */
  readonly sinceMs: number | undefined;
  /** The key of the operator's last entry in the piece, of any operation and state. */
  readonly last: string;
  /** PostgreSQL's clock, epoch milliseconds. */
  readonly nowMs: number;
}

interface Beyond {
  readonly operator: string;
  readonly rows: number;
}

interface After extends Beyond {
  readonly after: string;
}

/** Each counts the next `rows` entries of an index of open rows only, operator by operator. */
export interface PieceStatements {
  /** Starts with the first entry of the next operator. */
  readonly beyond: TypedStatement<Beyond, PieceRow>;
  /** Starts after an operator's entry. */
  readonly after: TypedStatement<After, PieceRow>;
}

interface Entries {
  /** `key` follows `operator_id` in the index, and never changes. */
  readonly key: 'id' | 'transaction_id';
  /** `operation`, `state` and `since` of an entry. */
  readonly columns: string;
  readonly from: string;
}

const beyond: Parameters<Beyond> = {
  operator: ['text', ({ operator }) => operator],
  rows: ['int', ({ rows }) => rows],
};

const after: Parameters<After> = {
  ...(beyond satisfies Parameters<Beyond>),
  after: ['text', (input) => input.after],
};

/** Run it on a `Database` with `ordered` plans: only the intended index has this order. */
function piecesOf(name: string, { key, columns, from }: Entries): PieceStatements {
  const text = (where: string) => `
  SELECT operator, operation, state, count(*)::int AS count,
         extract(epoch FROM min(since))::float8 * 1000 AS since_ms,
         (max(max(key)) OVER (PARTITION BY operator))::text AS last,
         extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms
    FROM (SELECT operator_id AS operator, ${key} AS key, ${columns}
            FROM ${from} AND ${where}
           ORDER BY operator_id, ${key} LIMIT :rows) piece
   GROUP BY operator, operation, state ORDER BY operator`;
  const type = key === 'id' ? 'bigint' : 'text';
  return {
    beyond: statement(`${name}-beyond`, beyond, text('operator_id > :operator'), pieceRowOf),
    after: statement(
      `${name}-after`,
      after,
      text(`(operator_id, ${key}) > (:operator, (:after)::${type})`),
      pieceRowOf,
    ),
  };
}

function pieceRowOf(row: Columns): PieceRow {
  return {
    operator: row.text('operator'),
    operation: row.text('operation'),
    state: row.text('state'),
    count: row.int('count'),
    sinceMs: row.intOrNull('since_ms'),
    last: row.text('last'),
    nowMs: row.int('now_ms'),
  };
}

export const WAITING_PIECES = piecesOf('delivery-waiting', {
  key: 'id',
  // A repeat to confirm (`purpose` confirm) has no age here: it has been delivered already.
  columns: `operation, CASE WHEN held THEN 'held' ELSE state END AS state,
            CASE WHEN purpose = 'promise' THEN created_at END AS since`,
  from: `deliveries WHERE state = 'pending'`,
});

export const DEAD_PIECES = piecesOf('delivery-dead', {
  key: 'id',
  columns: 'operation, state, created_at AS since',
  from: `deliveries WHERE state = 'dead'`,
});

/** Places that wait for their rollback. A place that was sent always has an operator. */
export const UNRESOLVED_PIECES = piecesOf('bet-unresolved', {
  key: 'transaction_id',
  columns: `'place'::text AS operation, 'unresolved'::text AS state, created_at AS since`,
  from: `bets b WHERE ${IS_PLACE_UNRESOLVED}`,
});

/** More of one operator are not counted: of so many, the exact number says nothing. */
const UNKNOWN_RESULTS_MAX = 50_000;
const IS_RESULT_UNKNOWN = `b.settlement = 'unknown' AND b.rollback = 'none'`;

/**
 * Results of unknown outcome whose last attempt ended an hour ago, by operator: each operator's apart, so that one with
 * very many hides no other's (I7). While the service repeats one, its attempts are younger; refused in the end, it is
 * repeated no more, and the wallet may still hold it.
 */
export const UNKNOWN_RESULTS = statement(
  'bet-unknown-results',
  {},
  `
  WITH RECURSIVE ${operatorsIn(`bets b WHERE ${IS_RESULT_UNKNOWN}`)}
  SELECT w.operator, counted.count
    FROM owner w
   CROSS JOIN LATERAL (
     SELECT count(*)::int AS count
       FROM (SELECT coalesce(b.late_at, b.created_at) AS since FROM bets b
              WHERE ${IS_RESULT_UNKNOWN} AND b.operator_id = w.operator LIMIT ${UNKNOWN_RESULTS_MAX}) b
      WHERE since < clock_timestamp() - interval '1 hour') counted
   WHERE counted.count > 0`,
  (row) => ({ operator: row.text('operator'), count: row.int('count') }),
);

/**
 * Deliveries that are being attempted inside their callbacks, at most one per call in flight. Their bets are busy,
 * so the index of busy bets leads to them.
 */
export const LIVE = statement(
  'delivery-live',
  {},
  `
  WITH busy AS MATERIALIZED (
    SELECT transaction_id FROM bets WHERE busy_until IS NOT NULL AND busy_operation <> 'place'
  )
  SELECT d.operator_id AS operator, d.operation, d.state, count(*)::int AS count,
         extract(epoch FROM min(d.created_at))::float8 * 1000 AS since_ms, '' AS last,
         extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms
    FROM busy CROSS JOIN LATERAL (
      -- OFFSET 0: looked up bet by bet, whatever the table's statistics suggest.
      SELECT * FROM deliveries d
       WHERE d.transaction_id = busy.transaction_id AND ${isOpen('d')}
         AND d.state IS NOT DISTINCT FROM 'live' OFFSET 0) d
   GROUP BY d.operator_id, d.operation, d.state`,
  pieceRowOf,
);
