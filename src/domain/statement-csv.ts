import { canonicalAmount } from './amount.ts';
import type { MovementKind } from './movements.ts';

/** A movement in a statement. */
export interface StatementRow {
  readonly transactionId: string;
  readonly currency: string;
  readonly kind: MovementKind;
  readonly amount: string;
  readonly isFreebet: boolean;
  /** ISO 8601 UTC. */
  readonly confirmedAt: string;
  /** The day of its confirmation; before `day` if that one was closed already. */
  readonly belongsTo: string;
  readonly operation: string;
}

/** The first line of every CSV statement; its SHA-256 covers it too. */
export const STATEMENT_HEADER =
  'day,belongsTo,transactionId,currency,kind,amount,freebet,confirmedAt,operation\n';

/** One line of a CSV statement (RFC 4180, but with `\n`), always the same for the same row. */
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

/** Foreign text stays one cell, whatever it contains. */
function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
