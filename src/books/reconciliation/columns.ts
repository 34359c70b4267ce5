import { shownCell } from '../../domain/list-amount.ts';
import { LIST_COLUMNS, type ListColumn } from '../../domain/reconciliation.ts';
import { Incomparable } from './incomparable.ts';

/** The list's own names for our columns, where they differ. */
export type ColumnNames = ReadonlyMap<ListColumn, string>;

/** The index of each of our columns in the list. */
export type ColumnPlaces = ReadonlyMap<ListColumn, number>;

/** Reads `transactionId=bet_id,stake=Bet Amount`; a colon works as well. @throws Incomparable */
export function readColumnNames(text: string): ColumnNames {
  const names = new Map<ListColumn, string>();
  for (const pair of text.split(',')) {
    const at = pair.search(/[=:]/);
    const [ours, theirs] = [pair.slice(0, at).trim(), at === -1 ? '' : pair.slice(at + 1).trim()];
    const column = LIST_COLUMNS.find((one) => one === ours);
    if (column === undefined || theirs === '') {
      throw new Incomparable(
        `columns: "${pair.slice(0, 60)}" is not of the form ${LIST_COLUMNS.join('|')}=<their column>`,
      );
    }
    if (names.has(column)) throw new Incomparable(`columns: ${column} is named twice`);
    if ([...names.values()].includes(theirs)) {
      throw new Incomparable(`columns: "${theirs.slice(0, 60)}" cannot be two of ours at once`);
    }
    names.set(column, theirs);
  }
  return names;
}

/**
 * Finds our columns by the given name exactly, or by our own name in any case and with any separators.
 * @returns undefined if one is missing @throws Incomparable if a column is ambiguous
 */
export function findColumns(
  header: readonly string[],
  names: ColumnNames,
): ColumnPlaces | undefined {
  const cells = header.map((cell) => cell.trim());
  const places = new Map<ListColumn, number>();
  for (const column of LIST_COLUMNS) {
    const named = names.get(column);
    const isIt = named === undefined ? likeness(column, names) : (cell: string) => cell === named;
    const found = cells.flatMap((cell, at) => (isIt(cell) ? [at] : []));
    const [first] = found;
    if (found.length > 1) {
      throw new Incomparable(
        `${found.length} columns could be ${column} (${found.map((at) => at + 1).join(', ')}): ` +
          `say which by columns, such as ${column}=<their column>`,
      );
    }
    if (first !== undefined) places.set(column, first);
    else if (named !== undefined) return undefined;
  }
  return places.has('transactionId') ? places : undefined;
}

/** The error that says which columns are missing. */
export function missingColumns(header: readonly string[], names: ColumnNames): Incomparable {
  const cells = new Set(header.map((cell) => cell.trim()));
  const given = [...names.values()].filter((name) => !cells.has(name));
  const wanted = given.length > 0 ? given : ['transactionId'];
  const shown = header.slice(0, 30).map(shownCell);
  return new Incomparable(
    `the list has no column ${wanted.map((name) => `"${name}"`).join(' or ')}: its first line ` +
      `is ${shown.join(', ')}; name its columns by columns, such as transactionId=bet_id`,
  );
}

function likeness(column: ListColumn, names: ColumnNames): (cell: string) => boolean {
  const taken = new Set(names.values());
  return (cell) => !taken.has(cell) && bareName(cell) === bareName(column);
}

/** A column's name without case and separators. */
export function bareName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
