import { csvFields, type Separator } from '../../lib/csv.ts';
import type { Line } from '../../lib/lines.ts';

/** The fields of a record, or why a line cannot be read; `number` is that of its first line. */
export type CsvRecord =
  | { readonly number: number; readonly fields: readonly string[] }
  | { readonly number: number; readonly fault: string; readonly text: string };

type TextLine = Extract<Line, { readonly text: string }>;

/** How many lines and characters a record with quoted fields may span. */
const RECORD_LINES_MAX = 100;
const RECORD_CHARS_MAX = 64 * 1024;

const FAULT = 'a quote is not closed, or stands inside a field';

/**
 * Joins lines of CSV into records: quoted fields may contain line ends. Of a record that is never completed
 * only the first line is lost.
 */
export class CsvRecords {
  readonly #separator: Separator;
  readonly #fieldCount: number;
  /** The lines of a record whose quote is not closed yet. */
  #open: TextLine[] = [];

  /** @param fieldCount of the header; a record over several lines has to have as many */
  constructor(separator: Separator, fieldCount: number) {
    this.#separator = separator;
    this.#fieldCount = fieldCount;
  }

  /** The records completed by this line, in order. */
  take(line: Line): CsvRecord[] {
    if ('text' in line) return this.#read([line]);
    const { number, fault, latin1 } = line;
    return [...this.end(), { number, fault, text: latin1 }];
  }

  /** The records left incomplete at the end of the list. */
  end(): CsvRecord[] {
    const records: CsvRecord[] = [];
    while (this.#open.length > 0) {
      const [first, ...rest] = this.#open;
      this.#open = [];
      if (first !== undefined) records.push({ ...first, fault: FAULT });
      records.push(...this.#read(rest));
    }
    return records;
  }

  #read(lines: readonly TextLine[]): CsvRecord[] {
    const records: CsvRecord[] = [];
    const waiting = [...lines];
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
      if (this.#open.length === 0 && line.text === '') continue;
      this.#open.push(line);
      const [first = line, ...rest] = this.#open;
      const fields = this.#fields(line);
      if (fields === 'quote not closed') continue;
      this.#open = [];
      if (typeof fields !== 'string') {
        records.push({ number: first.number, fields });
        continue;
      }
      records.push({ ...first, fault: FAULT });
      waiting.unshift(...rest);
    }
    return records;
  }

  /** The fields of the open lines as one record. */
  #fields(last: TextLine): ReturnType<typeof csvFields> {
    if (this.#open.length === 1) return csvFields(last.text, this.#separator);
    const text = this.#open.map((line) => line.text).join('\n');
    const isOver = this.#open.length > RECORD_LINES_MAX || text.length > RECORD_CHARS_MAX;
    if (isOver) return 'misplaced quote';
    if (!last.text.includes('"')) return 'quote not closed';
    const fields = csvFields(text, this.#separator);
    return typeof fields === 'string' || fields.length === this.#fieldCount
      ? fields
      : 'misplaced quote';
  }
}
