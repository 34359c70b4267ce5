import { GatewayError } from '../../domain/errors.ts';
import { DIFFERENCE_KINDS } from '../../domain/reconciliation.ts';
import type { Runner } from '../books/books-journal.ts';
import { dayStart } from '../books/day-start.ts';
import { named, namedColumns } from '../sql/named.ts';
import { noRow, statement } from '../sql/statement.ts';
import { GIVE_UP, GIVE_UP_LOST, TAKE_AWAY } from './given-up.ts';
import {
  countsIn,
  type DifferenceCounts,
  type ReconciliationItem,
  RUN_COLUMNS,
  reconciliationItemOf,
} from './run-item.ts';

export interface ReconciliationPlan {
  readonly operatorId: string;
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly actor: string;
}

/** A run that was begun, with the bounds of its days as PostgreSQL computes them. */
export interface BegunReconciliation {
  readonly id: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

const PAGE_SIZE = 50;

const BEGIN = statement(
  'reconciliation-begin',
  named({
    operator_id: 'text',
    from: 'date',
    to: 'date',
    time_zone: 'text',
    actor: 'text',
  }),
  `
  INSERT INTO reconciliations (operator_id, from_day, to_day, time_zone, actor)
  VALUES (:operator_id, :from, :to, :time_zone, :actor)
  RETURNING id::text, ${dayStart('from_day', 'time_zone')} AS starts_at,
            ${dayStart('to_day + 1', 'time_zone')} AS ends_at`,
  namedColumns({ id: 'text', starts_at: 'date', ends_at: 'date' }),
);

const TIME_ZONE = statement(
  'reconciliation-time-zone',
  {},
  'SELECT time_zone FROM books_cursor',
  (row) => row.textOrNull('time_zone'),
);

/** In the order of an index: with EXISTS, PostgreSQL reads all bets of before the operator came, to meet one of its own. */
const HAS_BETS = statement(
  'reconciliation-has-bets',
  named({ operator_id: 'text' }),
  `
  SELECT (
    SELECT true FROM bets WHERE operator_id = :operator_id AND place <> 'in_flight'
     ORDER BY bet_state(place, settlement, rollback), created_at, transaction_id LIMIT 1
  ) IS NOT NULL AS has`,
  (row) => row.bool('has'),
);

interface Progress {
  readonly id: string;
  readonly state: 'reading' | 'comparing';
  readonly columns: readonly string[];
  readonly lines: number;
  readonly bytes: number;
}

const NOTE_PROGRESS = statement(
  'reconciliation-progress',
  named({ id: 'bigint', state: 'text', columns: 'text[]', lines: 'bigint', bytes: 'bigint' }),
  `
  UPDATE reconciliations
     SET state = :state, columns = :columns, lines = :lines, bytes = :bytes,
         alive_at = clock_timestamp()
   WHERE id = :id AND state IN ('reading', 'comparing') AND why IS NULL
  RETURNING id::text`,
  (row) => row.text('id'),
);

/** How many of each kind nobody has resolved, as far as the statement's snapshot shows. */
const openOf = (counts: string) => `(
           SELECT k.kind, greatest(k.count - coalesce(s.count, 0), 0) AS count
             FROM (SELECT key AS kind, value::int AS count FROM jsonb_each_text(${counts} - 'agree')) k
             LEFT JOIN (SELECT d.kind, count(*) FROM reconciliation_found w
                          JOIN reconciliation_differences d ON d.id = w.difference_id
                         WHERE w.reconciliation_id = :id AND d.resolved_at IS NOT NULL
                         GROUP BY d.kind) s USING (kind))`;

const FINISH = statement(
  'reconciliation-finish',
  named({ id: 'bigint', counts: 'jsonb' }),
  `
  UPDATE reconciliations r
     SET state = 'done', counts = :counts, finished_at = clock_timestamp(),
         new_count = (SELECT count(*) FROM reconciliation_found
                       WHERE reconciliation_id = :id AND NOT is_known),
         open = (SELECT jsonb_object_agg(kind, count) FROM ${openOf(':counts')} o)
   WHERE r.id = :id AND r.state IN ('reading', 'comparing') AND r.why IS NULL
  RETURNING r.id::text`,
  (row) => row.text('id'),
);

/** Takes off what was resolved while FINISH ran, by one snapshot of both. */
const RECOUNT = statement(
  'reconciliation-recount',
  named({ id: 'bigint' }),
  `
  WITH missed AS MATERIALIZED (
    SELECT jsonb_object_agg(o.kind, greatest((s.open ->> o.kind)::int - o.count, 0)) AS by_kind
      FROM reconciliations s CROSS JOIN LATERAL ${openOf('s.counts')} o
     WHERE s.id = :id AND s.state = 'done'
  )
  UPDATE reconciliations r
     SET open = (SELECT jsonb_object_agg(key, greatest(value::int - (m.by_kind ->> key)::int, 0))
                   FROM jsonb_each_text(r.open))
    FROM missed m WHERE r.id = :id AND r.state = 'done'`,
  noRow,
);

const FIND = statement(
  'reconciliation-find',
  named({ id: 'bigint' }),
  `SELECT ${RUN_COLUMNS} FROM reconciliations WHERE id = :id`,
  reconciliationItemOf,
);

interface Listing {
  readonly operator?: string | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

const LIST = statement(
  'reconciliation-list',
  named({ operator: 'text?', cursor: 'bigint?' }),
  `
  SELECT ${RUN_COLUMNS} FROM reconciliations r
   WHERE (:operator IS NULL OR operator_id = :operator) AND (:cursor IS NULL OR r.id < :cursor)
   -- By the column: the bare name would be that of the text, whose greatest is '99' and not '100'.
   ORDER BY r.id DESC LIMIT ${PAGE_SIZE + 1}`,
  reconciliationItemOf,
);

/** For each operator the newest finished run: one probe of an index per operator. */
const NEWEST_OPEN = statement(
  'reconciliation-newest-open',
  {},
  `
  WITH RECURSIVE newest AS (
    (SELECT operator_id, id, open FROM reconciliations WHERE state = 'done'
      ORDER BY operator_id DESC, id DESC LIMIT 1)
    UNION ALL
    SELECT r.* FROM newest n CROSS JOIN LATERAL (
      SELECT operator_id, id, open FROM reconciliations
       WHERE state = 'done' AND operator_id < n.operator_id
       ORDER BY operator_id DESC, id DESC LIMIT 1) r
  )
  SELECT operator_id, open FROM newest`,
  (row) => ({ operator: row.text('operator_id'), open: countsIn(row, 'open', DIFFERENCE_KINDS) }),
);

/** The runs of comparisons, from beginning to end. */
export class ReconciliationRuns {
  readonly #runner: Runner;
  readonly #onNotRecounted: ((id: string, error: GatewayError) => void) | undefined;

  /**
   * Methods throw GatewayError for a `Database`. @param onNotRecounted what was resolved at the end may count as open
   */
  constructor(runner: Runner, onNotRecounted?: (id: string, error: GatewayError) => void) {
    this.#runner = runner;
    this.#onNotRecounted = onNotRecounted;
  }

  /** The time zone of the books' days; undefined until something was booked. */
  async booksTimeZone(): Promise<string | undefined> {
    return (await this.#runner.run(TIME_ZONE, {}))[0];
  }

  /** Whether the journal has bets of this operator. */
  async hasBets(operatorId: string): Promise<boolean> {
    return (await this.#runner.run(HAS_BETS, { operatorId }))[0] === true;
  }

  async begin(plan: ReconciliationPlan): Promise<BegunReconciliation> {
    const [begun] = await this.#runner.run(BEGIN, plan);
    if (begun === undefined) throw new Error('a reconciliation was not begun');
    return begun;
  }

  /** @returns false if the run has ended: another process took this one for dead */
  async noteProgress(progress: Progress): Promise<boolean> {
    return (await this.#runner.run(NOTE_PROGRESS, progress)).length > 0;
  }

  /** @returns false if the run has already failed */
  async finish(id: string, counts: DifferenceCounts): Promise<boolean> {
    const isFinished =
      (await this.#runner.run(FINISH, { id, counts: JSON.stringify(counts) })).length > 0;
    if (isFinished) await this.#recount(id);
    return isFinished;
  }

  /** The run is done either way. Without it, what was resolved at its very end counts as open: the safe side. */
  async #recount(id: string): Promise<void> {
    try {
      await this.#runner.run(RECOUNT, { id });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#onNotRecounted?.(id, error);
    }
  }

  /** Marks a run as failed and deletes its findings. */
  async fail(id: string, why: string): Promise<void> {
    await this.#runner.run(GIVE_UP, { id, why });
    await this.#takeAway();
  }

  /** The same for runs whose process has died. @returns their ids */
  async failLost(): Promise<readonly string[]> {
    const lost = await this.#runner.run(GIVE_UP_LOST, {});
    await this.#takeAway();
    return lost;
  }

  /** Piece by piece, including what an interrupted process left. */
  async #takeAway(): Promise<void> {
    let left: number | undefined;
    do {
      [left] = await this.#runner.run(TAKE_AWAY, {});
    } while (left !== undefined && left > 0);
  }

  async find(id: string): Promise<ReconciliationItem | undefined> {
    return (await this.#runner.run(FIND, { id }))[0];
  }

  /** Newest first. */
  async list(listing: Listing): Promise<{
    readonly items: readonly ReconciliationItem[];
    /** Null on the last page. */
    readonly nextCursor: string | null;
  }> {
    const rows = await this.#runner.run(LIST, listing);
    const items = rows.slice(0, PAGE_SIZE);
    return { items, nextCursor: rows.length > PAGE_SIZE ? (items.at(-1)?.id ?? null) : null };
  }

  /** The unresolved differences of each operator's newest finished run, counted. */
  async newestOpen() {
    return await this.#runner.run(NEWEST_OPEN, {});
  }
}
