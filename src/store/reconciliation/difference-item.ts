import { createHash } from 'node:crypto';
import { canonicalAmount } from '../../domain/amount.ts';
import {
  DIFFERENCE_KINDS,
  type DifferenceKind,
  type ListedBet,
} from '../../domain/reconciliation.ts';
import type { Columns } from '../sql/statement.ts';

/** What the other party's list says about a bet; for a repeated bet also what the other lines say. */
export interface ListedThere extends ListedBet {
  /** How often the bet is in the list; absent if once. */
  readonly copies?: number;
  readonly others?: readonly ListedBet[];
}

/** A difference as found by one run. */
export interface FoundDifference {
  readonly kind: DifferenceKind;
  /** Null if this could not be read from the line. */
  readonly transactionId: string | null;
  /** Null if that list does not have the bet. */
  readonly here: ListedBet | null;
  readonly there: ListedThere | null;
  /** The first line of the other party's list about the bet. */
  readonly line: number | null;
  /** What the gateway knows about the cause. */
  readonly reason: string | null;
}

/** The same as it is recorded. */
export interface NotedDifference extends FoundDifference {
  /** For a line that could not be read, a digest of its content. */
  readonly said?: string;
}

/** A difference of a run, for people. */
export interface DifferenceItem extends FoundDifference {
  readonly id: string;
  /** Whether an earlier run had found it. */
  readonly known: boolean;
  readonly firstFoundAt: string;
  /** Null until somebody has resolved it, in any run. */
  readonly resolution: {
    readonly at: string;
    readonly by: string;
    readonly reason: string;
  } | null;
}

/** The columns of a difference `d` and of its finding `w` by a run. */
export const DIFFERENCE_COLUMNS = `d.id::text, d.kind, d.transaction_id, d.here, d.there, w.position, w.line::float8 AS line,
         w.reason, w.is_known, d.first_found_at, d.resolved_at, d.resolved_by, d.resolved_why`;

/** Identifies a difference across runs: not by its line, except for one that could not be read. */
export function differenceIdentity({
  kind,
  transactionId,
  here,
  there,
  line,
  reason,
  said,
}: NotedDifference): Buffer {
  const content =
    kind === 'unreadable' ? [line, reason, said] : [comparableOf(here), comparableOf(there)];
  return createHash('sha256')
    .update(JSON.stringify([kind, transactionId, ...content]))
    .digest();
}

/** Amounts in one form, so that `12.5` today and `12.50` tomorrow are the same difference. */
function comparableOf(listed: ListedThere | null): unknown {
  if (listed === null) return null;
  const { currency, stake, payout, state, copies = 1, others = [] } = listed;
  const amounts = [stake, payout].map((amount) => amount && canonicalAmount(amount));
  return [currency, ...amounts, state, copies, others.map(comparableOf)];
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
