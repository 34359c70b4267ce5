import { readListAmount, shownCell } from '../../domain/list-amount.ts';
import { LIST_COLUMNS, LISTED_STATES, type ListColumn } from '../../domain/reconciliation.ts';
import type { ListRow } from '../../store/reconciliation/compare-statement.ts';

/** A line that cannot be read. */
export interface UnreadableLine {
  readonly line: number;
  readonly transactionId: string | null;
  readonly why: string;
  /** Its content, as far as it is text: the same line number with other content is another difference. */
  readonly text: string;
}

export type ListLine = { readonly row: ListRow } | { readonly unreadable: UnreadableLine };

const ID_CHARS_MAX = 200;
const CURRENCY_CHARS_MAX = 20;
const CONTROL = /\p{Cc}/u;

/** The content of a column in this line; undefined if the list has no such column. */
export type CellOf = (column: ListColumn) => string | undefined;

/** Every column must be filled in each line: a missing value would count as agreement. An empty payout is 0. */
export function readListLine(line: number, cellOf: CellOf): ListLine {
  const transactionId = cellOf('transactionId') ?? '';
  const idFault = faultOfId(transactionId);
  const text = () => joinedCells(LIST_COLUMNS.map((column) => cellOf(column) ?? ''));
  if (idFault !== undefined) return unreadable(line, null, `transactionId ${idFault}`, text());
  const no = (why: string) => unreadable(line, transactionId, why, text());

  const currency = cellOf('currency')?.trim();
  if (currency === '') return no('currency is empty');
  if (currency !== undefined && (currency.length > CURRENCY_CHARS_MAX || CONTROL.test(currency))) {
    return no(`currency ${shownCell(currency)} is none`);
  }
  const stakeCell = cellOf('stake');
  if (stakeCell?.trim() === '') return no('stake is empty');
  const stake = stakeCell === undefined ? undefined : readListAmount(stakeCell);
  if (stake?.fault !== undefined) return no(`stake ${stake.fault}`);
  const payoutCell = cellOf('payout');
  const payout = payoutCell === undefined ? undefined : readListAmount(payoutCell.trim() || '0');
  if (payout?.fault !== undefined) return no(`payout ${payout.fault}`);
  const stateCell = cellOf('state');
  const state = stateCell === undefined ? undefined : stateOf(stateCell);
  if (stateCell !== undefined && state === undefined) {
    return no(`state ${shownCell(stateCell)} is none of ${LISTED_STATES.join(', ')}`);
  }
  return {
    row: {
      line,
      transactionId,
      isUnreadable: false,
      currency: currency ?? null,
      stake: stake?.amount ?? null,
      payout: payout?.amount ?? null,
      state: state ?? null,
    },
  };
}

export function unreadable(
  line: number,
  transactionId: string | null,
  why: string,
  text: string,
): { readonly unreadable: UnreadableLine } {
  return { unreadable: { line, transactionId, why, text } };
}

/** Cells as one text. */
export function joinedCells(cells: readonly string[]): string {
  return cells.join('\0');
}

/** The transactionId to report for an unreadable line; null if it cannot be the id of a bet. */
export function idOfUnreadable(text: string | undefined): string | null {
  return text === undefined || faultOfId(text) !== undefined ? null : text;
}

/** TransactionIds are compared exactly: one with a leading or trailing space is a different id. */
function faultOfId(text: string): string | undefined {
  if (text === '') return 'is empty';
  if (text.length > ID_CHARS_MAX) return `is longer than ${ID_CHARS_MAX} characters`;
  if (CONTROL.test(text) || !text.isWellFormed()) return 'holds a control character';
  return undefined;
}

function stateOf(cell: string): string | undefined {
  const exact = LISTED_STATES.find((state) => state === cell);
  if (exact !== undefined) return exact;
  const word = cell.trim().toLowerCase().replaceAll(/[ -]/g, '_');
  return LISTED_STATES.find((state) => state === word || state.replace('_', '') === word);
}
