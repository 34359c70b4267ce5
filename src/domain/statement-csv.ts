import { canonicalAmount } from './amount.ts';
import type { MovementKind } from './movements.ts';

/** A movement as a statement shows it. */
export interface StatementRow {
  readonly transactionId: string;
  readonly currency: string;
  readonly kind: MovementKind;
  readonly amount: string;
  readonly isFreebet: boolean;
  /** ISO 8601 UTC. */
  readonly confirmedAt: string;
  /** The day it was confirmed in; before `day` where that was closed already. */
  readonly belongsTo: string;
  readonly operation: string;
}

/** The first line of every statement's CSV; its SHA-256 covers it too. */
export const STATEMENT_HEADER =
  'day,belongsTo,transactionId,currency,kind,amount,freebet,confirmedAt,operation\n';

/** One line of a statement's CSV (RFC 4180, but with `\n`). Always the same for the same row. */
export function statementLine(day: string, row: StatementRow): string {
  const cells = [
    day,
    row.belongsTo,
    quoted(row.transactionId),
    quoted(row.currency),
    row.kind,
    canonicalAmount(row.amount),
    String(row.isFreebet),
    row.confirmedAt,
    row.operation,
  ];
  return `${cells.join(',')}\n`;
}

/** Foreign text: whatever it contains stays one cell. */
function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
