import { DIFFERENCE_KINDS, type DifferenceKind } from '../../domain/reconciliation.ts';
import type { Columns } from '../sql/statement.ts';

const RECONCILIATION_STATES = ['reading', 'comparing', 'done', 'failed'] as const;

type ReconciliationState = (typeof RECONCILIATION_STATES)[number];

/** How many differences there are of each kind, and how many bets agree. */
export type DifferenceCounts = Readonly<Record<DifferenceKind | 'agree', number>>;

/** One comparison of the journal with another party's list. */
export interface ReconciliationItem {
  readonly id: string;
  readonly operator: string;
  /** First and last day, both compared, in `timeZone`. */
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly state: ReconciliationState;
  /** Why it could not be compared; null unless it failed. */
  readonly why: string | null;
  /** Who asked for it. */
  readonly actor: string;
  /** Which of our columns the list has; the others are not compared. */
  readonly columns: readonly string[];
  /** How much of the list has been read; bytes are counted after decompression. */
  readonly progress: { readonly lines: number; readonly bytes: number };
  /** Null until the run is done, like the next two. */
  readonly counts: DifferenceCounts | null;
  /** Kept differences that no earlier run had found. */
  readonly new: number | null;
  /** Differences that nobody has resolved, by kind. */
  readonly open: Readonly<Record<DifferenceKind, number>> | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

/** Columns of `reconciliations`. */
export const RUN_COLUMNS = `id::text, operator_id, from_day::text, to_day::text, time_zone,
         CASE WHEN why IS NULL THEN state ELSE 'failed' END AS state, why, actor, columns,
         lines::float8 AS lines, bytes::float8 AS bytes, counts, open, new_count, created_at, finished_at`;

export function reconciliationItemOf(row: Columns): ReconciliationItem {
  const isDone = row.text('state') === 'done';
  return {
    id: row.text('id'),
    operator: row.text('operator_id'),
    from: row.text('from_day'),
    to: row.text('to_day'),
    timeZone: row.text('time_zone'),
    state: row.oneOf('state', RECONCILIATION_STATES),
    why: row.textOrNull('why') ?? null,
    actor: row.text('actor'),
    columns: row.texts('columns'),
    progress: { lines: row.int('lines'), bytes: row.int('bytes') },
    counts: isDone ? countsIn(row, 'counts', ['agree', ...DIFFERENCE_KINDS]) : null,
    new: isDone ? row.int('new_count') : null,
    open: isDone ? countsIn(row, 'open', DIFFERENCE_KINDS) : null,
    createdAt: row.date('created_at').toISOString(),
    finishedAt: row.isNull('finished_at') ? null : row.date('finished_at').toISOString(),
  };
}

/** One number per kind, from a JSON object. */
export function countsIn<K extends string>(
  row: Columns,
  column: string,
  kinds: readonly K[],
): Record<K, number> {
  const counts = row.object(column);
  const entries = kinds.map((kind) => [kind, counts.int(kind)] as const);
  return Object.fromEntries(entries) as Record<K, number>;
}
