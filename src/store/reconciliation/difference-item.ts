import { createHash } from 'node:crypto';
import { canonicalAmount } from '../../domain/amount.ts';
import {
  DIFFERENCE_KINDS,
  type DifferenceKind,
  type ListedBet,
} from '../../domain/reconciliation.ts';
import type { Columns } from '../statement.ts';

/** What their list says of a bet; of a bet that it has several times also what the others say. */
export interface ListedThere extends ListedBet {
  /** How many times it stands there; absent where once. */
  readonly copies?: number;
  readonly others?: readonly ListedBet[];
}

/** A difference as one run finds it. */
export interface FoundDifference {
  readonly kind: DifferenceKind;
  /** Null for a line that could not be read as far as that. */
  readonly transactionId: string | null;
  /** Null where that list has no such bet. */
  readonly here: ListedBet | null;
  readonly there: ListedThere | null;
  /** Of their list, the first that speaks of it. */
  readonly line: number | null;
  /** What the gateway knows of its cause. */
  readonly reason: string | null;
}

/** The same as it is put on record. */
export interface NotedDifference extends FoundDifference {
  /** Of a line that could not be read, a digest of what it says. */
  readonly said?: string;
}

/** A difference of a run, for people. */
export interface DifferenceItem extends FoundDifference {
  readonly id: string;
  /** A run before had found it. */
  readonly known: boolean;
  readonly firstFoundAt: string;
  /** Null until somebody has resolved it, in whichever run. */
  readonly resolution: {
    readonly at: string;
    readonly by: string;
    readonly reason: string;
  } | null;
}

/** Of a difference `d` as a run has found it, `w`. */
export const DIFFERENCE_COLUMNS = `d.id::text, d.kind, d.transaction_id, d.here, d.there, w.position, w.line::float8 AS line,
         w.reason, w.is_known, d.first_found_at, d.resolved_at, d.resolved_by, d.resolved_why`;

/**
 * By what a difference is known again: not by its line, which another list counts otherwise, but of
 * a line that nobody could read there is nothing else than its place and what it says.
 */
export function differenceIdentity({
  kind,
  transactionId,
  here,
  there,
  line,
  reason,
  said,
}: NotedDifference): Buffer {
  const told = kind === 'unreadable' ? [line, reason, said] : [wordsOf(here), wordsOf(there)];
  return createHash('sha256')
    .update(JSON.stringify([kind, transactionId, ...told]))
    .digest();
}

/** Amounts in one form, so that `12.5` today and `12.50` tomorrow are the same difference. */
function wordsOf(listed: ListedThere | null): unknown {
  if (listed === null) return null;
  const { currency, stake, payout, state, copies = 1, others = [] } = listed;
  const amounts = [stake, payout].map((amount) => amount && canonicalAmount(amount));
  return [currency, ...amounts, state, copies, others.map(wordsOf)];
}

export function listedJson(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

export function differenceItemOf(row: Columns): DifferenceItem {
  return {
    id: row.text('id'),
    kind: row.oneOf('kind', DIFFERENCE_KINDS),
    transactionId: row.textOrNull('transaction_id') ?? null,
    here: row.isNull('here') ? null : listedIn(row.object('here')),
    there: row.isNull('there') ? null : thereIn(row.object('there')),
    line: row.intOrNull('line') ?? null,
    reason: row.textOrNull('reason') ?? null,
    known: row.bool('is_known'),
    firstFoundAt: row.date('first_found_at').toISOString(),
    resolution: row.isNull('resolved_at')
      ? null
      : {
          at: row.date('resolved_at').toISOString(),
          by: row.text('resolved_by'),
          reason: row.text('resolved_why'),
        },
  };
}

function listedIn(row: Columns): ListedBet {
  return {
    currency: row.textOrNull('currency') ?? null,
    stake: row.textOrNull('stake') ?? null,
    payout: row.textOrNull('payout') ?? null,
    state: row.textOrNull('state') ?? null,
  };
}

function thereIn(row: Columns): ListedThere {
  if (!row.has('copies')) return listedIn(row);
  const others = row.rowsOrNull('others').map(listedIn);
  return { ...listedIn(row), copies: row.int('copies'), others };
}
