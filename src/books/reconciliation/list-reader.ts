import { shownCell } from '../../domain/list-amount.ts';
import { LIST_COLUMNS, type ListColumn } from '../../domain/reconciliation.ts';
import { csvFields, SEPARATORS, type Separator } from '../../lib/csv.ts';
import { ENDS_WITH_RETURN, type Line } from '../../lib/lines.ts';
import { type JsonDocument, JsonError, jsonObjectOrError } from '../../protocol/json.ts';
import {
  bareName,
  type ColumnNames,
  type ColumnPlaces,
  findColumns,
  missingColumns,
} from './columns.ts';
import { type CsvRecord, CsvRecords } from './csv-records.ts';
import { Incomparable } from './incomparable.ts';
import {
  type CellOf,
  idOfUnreadable,
  joinedCells,
  type ListLine,
  readListLine,
  unreadable,
} from './list-rows.ts';

const COLUMNS_MAX = 1_000;

/** Reads lines of one format; knows which of our columns the list has. */
interface Form {
  readonly columns: readonly ListColumn[];
  take(line: Line): ListLine[];
  end(): ListLine[];
}

/** Reads a list line by line, in the format of its first line: CSV or one JSON object per line. */
export class ListReader {
  readonly #names: ColumnNames;
  #form: Form | undefined;
  #separator: Separator | undefined;

  constructor(names: ColumnNames) {
    this.#names = names;
  }

  /** Which of our columns the list has; none before its first line. */
  get columns(): readonly ListColumn[] {
    return this.#form?.columns ?? [];
  }

  /** @throws Incomparable if the first line shows that the list cannot be read */
  take(line: Line): ListLine[] {
    if (this.#form !== undefined) return this.#form.take(line);
    if ('fault' in line) throw new Incomparable(`line ${line.number} ${line.fault}`);
    const text = line.text.trimStart();
    if (text.trimEnd() === '') return [];
    if (text.includes('\0')) {
      throw new Incomparable('the list is no text in UTF-8: save it as CSV in UTF-8');
    }
    if (text.startsWith('{')) {
      const form = jsonForm(line.number, text, this.#names);
      this.#form = form;
      return form.take(line);
    }
    if (text.startsWith('[')) {
      throw new Incomparable('the list is a JSON array: write one object a line (NDJSON)');
    }
    if (text.includes('\r')) throw new Incomparable(`line ${line.number} ${ENDS_WITH_RETURN}`);
    const stated = statedSeparator(text);
    if (stated === undefined) this.#form = csvForm(line, this.#names, this.#separator);
    else this.#separator = stated;
    return [];
  }

  /** @throws Incomparable if the list had no lines at all */
  end(): ListLine[] {
    if (this.#form !== undefined) return this.#form.end();
    throw new Incomparable('the list is empty: its first line has to name its columns');
  }
}

/** Excel's line that names the separator: `sep=;`, also in quotes or padded. @throws Incomparable */
function statedSeparator(line: string): Separator | undefined {
  const [, rest] = /^"?sep=(.*)$/is.exec(line) ?? [];
  if (rest === undefined) return undefined;
  const [named = ''] = rest;
  const separator = SEPARATORS.find((one) => one === named);
  // What else follows: the quote's end, and the separators of empty cells.
  if (separator !== undefined && /^[",;\t| ]*$/.test(rest.slice(1))) return separator;
  throw new Incomparable(
    `the first line ${shownCell(line)} names no separator that is read: comma, semicolon, tab or |`,
  );
}

function csvForm(
  { number, text: header }: { readonly number: number; readonly text: string },
  names: ColumnNames,
  stated: Separator | undefined,
): Form {
  const candidates = (stated === undefined ? SEPARATORS : [stated]).flatMap((separator) => {
    const cells = csvFields(header, separator);
    return typeof cells === 'string' ? [] : [{ separator, cells }];
  });
  if (candidates.length === 0) {
    throw new Incomparable(
      `line ${number}, ${shownCell(header)}, has a quote that is not closed: the name of a column may hold no line end`,
    );
  }
  candidates.sort((a, b) => b.cells.length - a.cells.length);
  for (const { separator, cells } of candidates) {
    if (cells.length > COLUMNS_MAX) {
      throw new Incomparable(
        `the list has ${cells.length} columns: at most ${COLUMNS_MAX} are read`,
      );
    }
    const places = findColumns(cells, names);
    if (places !== undefined) return new CsvForm(separator, cells.length, places);
  }
  throw missingColumns(candidates[0]?.cells ?? [], names);
}

class CsvForm implements Form {
  readonly #records: CsvRecords;
  readonly #fieldCount: number;
  readonly #places: ColumnPlaces;

  constructor(separator: Separator, fieldCount: number, places: ColumnPlaces) {
    this.#records = new CsvRecords(separator, fieldCount);
    this.#fieldCount = fieldCount;
    this.#places = places;
  }

  get columns(): readonly ListColumn[] {
    return [...this.#places.keys()];
  }

  take(line: Line): ListLine[] {
    return this.#records.take(line).map((record) => this.#read(record));
  }

  end(): ListLine[] {
    return this.#records.end().map((record) => this.#read(record));
  }

  #read(record: CsvRecord): ListLine {
    if ('fault' in record) return unreadable(record.number, null, record.fault, record.text);
    const { number, fields } = record;
    if (fields.length !== this.#fieldCount) {
      const why = `has ${fields.length} fields where the first line has ${this.#fieldCount}`;
      return unreadable(number, null, why, joinedCells(fields));
    }
    return readListLine(number, (column) => {
      const at = this.#places.get(column);
      return at === undefined ? undefined : fields[at];
    });
  }
}

/** Objects have no header: the members of the first are required in all others. */
function jsonForm(number: number, first: string, names: ColumnNames): Form {
  const document = parsed(first);
  if (typeof document === 'string') {
    throw new Incomparable(`line ${number} is no JSON object: ${document}`);
  }
  const header = Object.keys(document.value);
  const places = findColumns(header, names);
  if (places === undefined) throw missingColumns(header, names);
  const members = new Map([...places].map(([column, at]) => [column, header[at] ?? '']));
  // Who has named every column that is compared wants no other.
  const isComplete = [...members.keys()].every((column) => names.has(column));
  const others = isComplete ? [] : LIST_COLUMNS.filter((column) => !members.has(column));
  return {
    columns: [...members.keys()],
    take: (line) => jsonLine(line, members, others),
    end: () => [],
  };
}

/** @param others the columns that the first line lacks: a line that has one would not be compared whole */
function jsonLine(
  line: Line,
  members: ReadonlyMap<ListColumn, string>,
  others: readonly ListColumn[],
): ListLine[] {
  const { number } = line;
  if ('fault' in line) return [unreadable(number, null, line.fault, line.latin1)];
  if (line.text.trim() === '') return [];
  const document = parsed(line.text);
  if (typeof document === 'string') return [unreadable(number, null, document, line.text)];
  const cells = new Map<ListColumn, string>();
  for (const column of LIST_COLUMNS) {
    const member = members.get(column);
    if (member === undefined) continue;
    const cell = cellOfMember(document, member);
    if (cell === undefined) {
      const id = idOfUnreadable(cells.get('transactionId'));
      const why = `${column} is missing, or no text and no number`;
      return [unreadable(number, id, why, line.text)];
    }
    cells.set(column, cell);
  }
  const uncompared = others.find((column) =>
    Object.keys(document.value).some((member) => bareName(member) === bareName(column)),
  );
  if (uncompared !== undefined) {
    const id = idOfUnreadable(cells.get('transactionId'));
    const why = `has ${uncompared}, which the first line lacks: name the columns to compare by columns`;
    return [unreadable(number, id, why, line.text)];
  }
  const cellOf: CellOf = (column) => cells.get(column);
  return [readListLine(number, cellOf)];
}

/** Numbers keep their exact text; null is an empty cell. */
function cellOfMember(document: JsonDocument, member: string): string | undefined {
  const value = document.value[member];
  if (typeof value === 'string') return value;
  if (value === null) return '';
  return document.numberText(member);
}

/** The object, or why the text is not one. */
function parsed(text: string): JsonDocument | string {
  const document = jsonObjectOrError(Buffer.from(text));
  return document instanceof JsonError ? document.message : document;
}
