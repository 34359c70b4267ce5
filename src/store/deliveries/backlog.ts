import { IS_PLACE_UNRESOLVED } from '../bets/ended.ts';
import type { Database } from '../database.ts';
import { operatorsIn } from '../sql/operators-in.ts';
import { type Columns, statement } from '../sql/statement.ts';
import { isOpen } from './open-of-bet.ts';

/** Open deliveries of one operator, operation and state. */
export interface OpenCount {
  readonly operator: string;
  readonly operation: string;
  readonly state: string;
  readonly count: number;
  /** The operator has more than were counted. */
  readonly isAtLeast: boolean;
  /** Time of the oldest promise among them, epoch milliseconds; undefined if none is a promise. */
  readonly sinceMs: number | undefined;
  /** PostgreSQL's clock, epoch milliseconds. */
  readonly nowMs: number;
}

/** More per operator are not counted, so that its backlog delays no other's numbers (I7). */
const COUNTED_MAX = 50_000;

interface Entries {
  /** Follows `operator_id` in an index of the open rows only. */
  readonly key: 'id' | 'transaction_id';
  /** `operation`, `state` and `since` of an entry. */
  readonly columns: string;
  readonly from: `${string} WHERE ${string}`;
}

/** Counts the first entries of each operator. */
const countOpen = (name: string, { key, columns, from }: Entries) =>
  statement(
    name,
    {},
    `
  WITH RECURSIVE ${operatorsIn(from)}
  SELECT w.operator, counted.*, extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms
    FROM owner w
   CROSS JOIN LATERAL (
     SELECT operation, state, count(*)::int AS count,
            sum(count(*)) OVER () = ${COUNTED_MAX} AS is_at_least,
            extract(epoch FROM min(since))::float8 * 1000 AS since_ms
       FROM (SELECT ${columns} FROM ${from} AND operator_id = w.operator
              ORDER BY operator_id, ${key} LIMIT ${COUNTED_MAX}) first
      GROUP BY operation, state) counted`,
    openCountOf,
  );

function openCountOf(row: Columns): OpenCount {
  return {
    operator: row.text('operator'),
    operation: row.text('operation'),
    state: row.text('state'),
    count: row.int('count'),
    isAtLeast: row.bool('is_at_least'),
    sinceMs: row.intOrNull('since_ms'),
    nowMs: row.int('now_ms'),
  };
}

export const WAITING = countOpen('delivery-waiting', {
  key: 'id',
  // A confirmation has no age here: its operation has been delivered already.
  columns: `operation, CASE WHEN held THEN 'held' ELSE state END AS state,
            CASE WHEN purpose = 'promise' THEN created_at END AS since`,
  from: `deliveries WHERE state = 'pending'`,
});

export const DEAD = countOpen('delivery-dead', {
  key: 'id',
  columns: 'operation, state, created_at AS since',
  from: `deliveries WHERE state = 'dead'`,
});

/** Places that wait for their rollback. A sent place always has an operator. */
export const UNRESOLVED = countOpen('bet-unresolved', {
  key: 'transaction_id',
  columns: `'place'::text AS operation, 'unresolved'::text AS state, created_at AS since`,
  from: `bets b WHERE ${IS_PLACE_UNRESOLVED}`,
});

const IS_RESULT_UNKNOWN = `b.settlement = 'unknown' AND b.rollback = 'none'`;

/**
 * Results of unknown outcome an hour after their last attempt: the service repeats them no more, and the wallet may
 * hold them. Counted per operator, so that one hides no other's (I7).
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
              WHERE ${IS_RESULT_UNKNOWN} AND b.operator_id = w.operator LIMIT ${COUNTED_MAX}) b
      WHERE since < clock_timestamp() - interval '1 hour') counted
   WHERE counted.count > 0`,
  (row) => ({ operator: row.text('operator'), count: row.int('count') }),
);

/** Deliveries inside their callbacks, one per call in flight at most: the index of busy bets finds them. */
export const LIVE = statement(
  'delivery-live',
  {},
  `
  WITH busy AS MATERIALIZED (
    SELECT transaction_id FROM bets WHERE busy_until IS NOT NULL AND busy_operation <> 'place'
  )
  SELECT d.operator_id AS operator, d.operation, d.state, count(*)::int AS count,
         extract(epoch FROM min(d.created_at))::float8 * 1000 AS since_ms, false AS is_at_least,
         extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms
    FROM busy CROSS JOIN LATERAL (
      -- OFFSET 0: looked up bet by bet, whatever the table's statistics suggest.
      SELECT * FROM deliveries d
       WHERE d.transaction_id = busy.transaction_id AND ${isOpen('d')}
         AND d.state IS NOT DISTINCT FROM 'live' OFFSET 0) d
   GROUP BY d.operator_id, d.operation, d.state`,
  openCountOf,
);

export interface OpenCounts {
  /** Attempted inside their callbacks. */
  readonly live: readonly OpenCount[];
  /** `pending` or `held`. */
  readonly waiting: readonly OpenCount[];
  readonly dead: readonly OpenCount[];
  /** Places of unknown outcome without a rollback. */
  readonly unresolved: readonly OpenCount[];
  /** Results of unknown outcome that nobody has repeated for an hour. */
  readonly unknownResults: readonly { readonly operator: string; readonly count: number }[];
}

/** Counts of open deliveries, shared by a process's gauges and admin API. */
export class BacklogCounts {
  readonly #database: Database;
  #looking: Promise<OpenCounts> | undefined;

  /** @param database with `ordered` plans: only the intended indexes have the order of these statements */
  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE` */
  look(): Promise<OpenCounts> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<OpenCounts> {
    const [live, waiting, dead, unresolved, unknownResults] = await Promise.all([
      this.#database.run(LIVE, {}),
      this.#database.run(WAITING, {}),
      this.#database.run(DEAD, {}),
      this.#database.run(UNRESOLVED, {}),
      this.#database.run(UNKNOWN_RESULTS, {}),
    ]);
    return { live, waiting, dead, unresolved, unknownResults };
  }
}
