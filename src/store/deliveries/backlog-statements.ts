import { IS_PLACE_UNRESOLVED } from '../bets/ended.ts';
import { type Columns, type Parameters, statement, type TypedStatement } from '../statement.ts';

/** What a piece of the entries holds of one operator, operation and state. */
export interface PieceRow {
  readonly operator: string;
  readonly operation: string;
  readonly state: string;
  readonly count: number;
  /** When the oldest promise of them was made, epoch milliseconds; undefined where none is one. */
  readonly sinceMs: number | undefined;
  /** The operator's last entry of the piece, of whatever operation and state. */
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

/** The next so many entries of an index that holds nothing but what is open, operator by operator. */
export interface PieceStatements {
  /** From the first entry of a later operator on. */
  readonly beyond: TypedStatement<Beyond, PieceRow>;
  /** From the entry behind one of an operator on. */
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

/** Only the index that is meant has this order: for a `Database` whose plans are `ordered`. */
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
  // What is only confirmed once more has been delivered already.
  columns: `operation, CASE WHEN held THEN 'held' ELSE state END AS state,
            CASE WHEN purpose = 'promise' THEN created_at END AS since`,
  from: `deliveries WHERE state = 'pending'`,
});

export const DEAD_PIECES = piecesOf('delivery-dead', {
  key: 'id',
  columns: 'operation, state, created_at AS since',
  from: `deliveries WHERE state = 'dead'`,
});

/** Places that wait for their rollback. One that was sent always has an operator. */
export const UNRESOLVED_PIECES = piecesOf('bet-unresolved', {
  key: 'transaction_id',
  columns: `'place'::text AS operation, 'unresolved'::text AS state, created_at AS since`,
  from: `bets b WHERE ${IS_PLACE_UNRESOLVED}`,
});

/**
 * Deliveries that are being tried within their callbacks: as many as calls are under way. Each is of a
 * bet that is busy, and both indexes hold nothing else.
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
      -- Bet by bet, whatever the statistics say of what is open.
      SELECT * FROM deliveries d
       WHERE d.transaction_id = busy.transaction_id AND d.state = 'live' OFFSET 0) d
   GROUP BY d.operator_id, d.operation, d.state`,
  pieceRowOf,
);
