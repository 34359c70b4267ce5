import type { DifferenceKind } from '../../domain/reconciliation.ts';
import { AUDITED, type Authority, auditText } from '../audit/audited.ts';
import type { Runner } from '../books/books-journal.ts';
import { named } from '../sql/named.ts';
import { batchStatement, type Parameters, statement } from '../sql/statement.ts';
import {
  DIFFERENCE_COLUMNS,
  type DifferenceItem,
  differenceIdentity,
  differenceItemOf,
  listedJson,
  type NotedDifference,
} from './difference-item.ts';

export type DifferenceResolution =
  | { readonly kind: 'resolved'; readonly item: DifferenceItem }
  | { readonly kind: 'resolvedBefore' }
  | { readonly kind: 'missing' };

const PAGE_SIZE = 100;

interface Placed extends NotedDifference {
  readonly runId: string;
  readonly operatorId: string;
  readonly position: number;
}

const NOTE = batchStatement(
  'reconciliation-note-differences',
  {
    run_id: ['bigint', ({ runId }) => runId],
    operator_id: ['text', ({ operatorId }) => operatorId],
    position: ['int', ({ position }) => position],
    identity: ['bytea', differenceIdentity],
    kind: ['text', ({ kind }) => kind],
    transaction_id: ['text', ({ transactionId }) => transactionId],
    here: ['jsonb', ({ here }) => listedJson(here)],
    there: ['jsonb', ({ there }) => listedJson(there)],
    line: ['bigint', ({ line }) => line],
    reason: ['text', ({ reason }) => reason],
  } satisfies Parameters<Placed>,
  `
  WITH input AS MATERIALIZED (
    SELECT i.* FROM :input JOIN reconciliations r ON r.id = i.run_id
     WHERE r.state IN ('reading', 'comparing') AND r.why IS NULL
     -- Whoever gives the run up meanwhile waits, and then takes these away with the others.
       FOR SHARE OF r
  ), difference AS (
    INSERT INTO reconciliation_differences AS d (operator_id, identity, kind, transaction_id, here,
                                                 there, first_run_id)
    SELECT operator_id, identity, kind, transaction_id, here, there, run_id FROM input
     ORDER BY identity
    -- The same again is not another one; its row is needed all the same.
    ON CONFLICT (operator_id, identity) DO UPDATE SET kind = excluded.kind
    RETURNING d.id, d.identity, d.first_run_id
  )
  INSERT INTO reconciliation_found (reconciliation_id, position, difference_id, line, reason, is_known)
  SELECT i.run_id, i.position, d.id, i.line, i.reason, coalesce(r.state = 'done', false)
    FROM input i JOIN difference d USING (identity)
    LEFT JOIN reconciliations r ON r.id = d.first_run_id
  RETURNING position`,
  (row) => row.int('position'),
);

export interface DifferenceQuery {
  readonly runId: string;
  readonly kind?: DifferenceKind | undefined;
  /** Only those that nobody has resolved, or only those that somebody has. */
  readonly resolved?: boolean | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** Of a run that is done. */
const FOUND = `
  SELECT ${DIFFERENCE_COLUMNS}
    FROM reconciliation_found w
    JOIN reconciliations r ON r.id = w.reconciliation_id AND r.state = 'done'
    JOIN reconciliation_differences d ON d.id = w.difference_id
   WHERE w.reconciliation_id = :run_id`;

const LIST = statement(
  'reconciliation-list-differences',
  named({ run_id: 'bigint', kind: 'text?', resolved: 'bool?', cursor: 'bigint?' }),
  `
  ${FOUND} AND w.position > coalesce(:cursor, 0)
     AND (:kind IS NULL OR d.kind = :kind)
     AND (:resolved IS NULL OR (d.resolved_at IS NOT NULL) = :resolved)
   ORDER BY w.position LIMIT ${PAGE_SIZE + 1}`,
  (row) => ({ position: String(row.int('position')), item: differenceItemOf(row) }),
);

interface Which {
  readonly runId: string;
  readonly differenceId: string;
}

const which = named({ run_id: 'bigint', difference_id: 'bigint' });

const FIND = statement(
  'reconciliation-find-difference',
  which,
  `
  ${FOUND} AND d.id = :difference_id`,
  differenceItemOf,
);

/** Every run with the difference counts one less as open. Their rows are locked first. */
const RESOLVE = statement<Which & { readonly by: Authority }, string>(
  'reconciliation-resolve',
  { ...which, ...AUDITED },
  `
  WITH run AS MATERIALIZED (
    SELECT r.id, r.state FROM reconciliation_found w JOIN reconciliations r ON r.id = w.reconciliation_id
     WHERE w.difference_id = :difference_id ORDER BY r.id FOR NO KEY UPDATE OF r
  ), changed AS (
    UPDATE reconciliation_differences d
       SET resolved_at = clock_timestamp(), resolved_by = :actor, resolved_why = :reason
     WHERE d.id = :difference_id AND d.resolved_at IS NULL
       -- Counted, not EXISTS, which would leave the rows behind the first unlocked.
       AND (SELECT count(*) FROM run WHERE run.id = :run_id AND run.state = 'done') > 0
    RETURNING d.*
  ), counted AS (
    UPDATE reconciliations r
       SET open = jsonb_set(r.open, ARRAY[c.kind],
                            to_jsonb(greatest((r.open ->> c.kind)::int - 1, 0)))
      FROM changed c, run
     WHERE r.id = run.id AND run.state = 'done'
  ) ${auditText(
    'reconciliation.resolved',
    `SELECT 'reconciliation ' || :run_id || ' difference ' || c.id, c.operator_id,
            jsonb_build_object('kind', c.kind, 'transactionId', c.transaction_id, 'resolved', false),
            jsonb_build_object('kind', c.kind, 'transactionId', c.transaction_id, 'resolved', true)
       FROM changed c`,
  )}
  RETURNING action`,
  (row) => row.text('action'),
);

/** The differences between lists, which people resolve. */
export class ReconciliationDifferences {
  readonly #runner: Runner;

  /** Every method throws GatewayError `DATABASE_UNAVAILABLE` if `runner` is a `Database`. */
  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** Records what a run has found, from this position on; nothing if the run has ended. */
  async note(
    run: { readonly id: string; readonly operatorId: string },
    found: readonly NotedDifference[],
    fromPosition: number,
  ): Promise<void> {
    if (found.length === 0) return;
    const { id: runId, operatorId } = run;
    await this.#runner.run(
      NOTE,
      found.map((one, at) => ({ ...one, runId, operatorId, position: fromPosition + at })),
    );
  }

  /** One page of the differences of a finished run, in the order in which it found them. */
  async list(query: DifferenceQuery): Promise<{
    readonly items: readonly DifferenceItem[];
    /** Null on the last page. */
    readonly nextCursor: string | null;
  }> {
    const rows = await this.#runner.run(LIST, query);
    const page = rows.slice(0, PAGE_SIZE);
    const nextCursor = rows.length > PAGE_SIZE ? (page.at(-1)?.position ?? null) : null;
    return { items: page.map(({ item }) => item), nextCursor };
  }

  /** All differences, read page by page. */
  async *all(query: Omit<DifferenceQuery, 'cursor'>): AsyncGenerator<DifferenceItem> {
    let cursor: string | null | undefined;
    do {
      const { items, nextCursor } = await this.list({ ...query, cursor: cursor ?? undefined });
      yield* items;
      cursor = nextCursor;
    } while (cursor !== null);
  }

  /**
   * Marks a difference as resolved for later runs too, with its row in the audit (I12).
   * @param by who resolved it, with the reason
   */
  async resolve(runId: string, differenceId: string, by: Authority): Promise<DifferenceResolution> {
    const changed = await this.#runner.run(RESOLVE, { runId, differenceId, by });
    const [item] = await this.#runner.run(FIND, { runId, differenceId });
    if (item === undefined) return { kind: 'missing' };
    return changed.length > 0 ? { kind: 'resolved', item } : { kind: 'resolvedBefore' };
  }
}
