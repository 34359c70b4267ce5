import { LIST_COLUMNS, type ListColumn } from '../../domain/reconciliation.ts';
import { parseCsvLine, SEPARATORS, type Separator } from '../../lib/csv.ts';
import type { Line } from '../../lib/lines.ts';
import { type JsonDocument, JsonError, jsonObjectOrError } from '../../protocol/json.ts';
import { type ColumnNames, type ColumnPlaces, findColumns, missingColumns } from './columns.ts';
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
    // Excel's line before the header that names the separator.
    const [, stated] = /^sep=(.)$/i.exec(text.trimEnd()) ?? [];
    this.#separator = SEPARATORS.find((one) => one === stated) ?? this.#separator;
    if (stated === undefined) this.#form = csvForm(line.text, this.#names, this.#separator);
    return [];
  }

  /** @throws Incomparable if the list had no lines at all */
  end(): ListLine[] {
    if (this.#form !== undefined) return this.#form.end();
    throw new Incomparable('the list is empty: its first line has to name its columns');
  }
}

function csvForm(header: string, names: ColumnNames, stated: Separator | undefined): Form {
  const candidates = (stated === undefined ? SEPARATORS : [stated]).map((separator) => ({
    separator,
    cells: parseCsvLine(header, separator) ?? [],
  }));
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
  return {
    columns: [...members.keys()],
    take: (line) => jsonLine(line, members),
    end: () => [],
  };
}

function jsonLine(line: Line, members: ReadonlyMap<ListColumn, string>): ListLine[] {
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
