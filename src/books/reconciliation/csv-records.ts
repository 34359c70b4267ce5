import { parseCsvLine, type Separator } from '../../lib/csv.ts';
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
 * Joins lines of CSV into records. Quoted fields may contain line ends. If a record is never completed,
 * only its first line is lost, and the lines after it are read again, so that one missing quote
 * does not swallow the rest of the list.
 */
export class CsvRecords {
  readonly #separator: Separator;
  readonly #fieldCount: number;
  #open: TextLine[] = [];
  #openChars = 0;

  /** @param fieldCount of the header; a record over several lines has to have as many */
  constructor(separator: Separator, fieldCount: number) {
    this.#separator = separator;
    this.#fieldCount = fieldCount;
  }

  /** The records completed by this line, in order. */
  take(line: Line): CsvRecord[] {
    if ('fault' in line) {
      const { number, fault, latin1 } = line;
      return [...this.end(), { number, fault, text: latin1 }];
    }
    // The usual case.
    if (this.#open.length === 0 && !line.text.includes('"')) {
      const { number, text } = line;
      return text === '' ? [] : [{ number, fields: text.split(this.#separator) }];
    }
    return this.#read([line]);
  }

  /** The records left incomplete at the end of the list. */
  end(): CsvRecord[] {
    const records: CsvRecord[] = [];
    while (this.#open.length > 0) records.push(...this.#giveUp());
    return records;
  }

  #read(lines: readonly TextLine[]): CsvRecord[] {
    const records: CsvRecord[] = [];
    const waiting = [...lines];
    for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) {
      if (this.#open.length === 0) {
        records.push(...this.#begin(line));
        continue;
      }
      this.#open.push(line);
      this.#openChars += line.text.length + 1;
      const isOver = this.#open.length > RECORD_LINES_MAX || this.#openChars > RECORD_CHARS_MAX;
      const whole = hasOddQuotes(line.text) && !isOver ? this.#whole() : undefined;
      if (whole !== undefined) records.push(whole);
      else if (isOver || hasOddQuotes(line.text)) {
        const [first, ...rest] = this.#open;
        this.#close();
        if (first !== undefined) records.push({ ...first, fault: FAULT });
        waiting.unshift(...rest);
      }
    }
    return records;
  }

  #begin(line: TextLine): CsvRecord[] {
    const { number, text } = line;
    if (text === '') return [];
    const fields = parseCsvLine(text, this.#separator);
    if (fields !== undefined) return [{ number, fields }];
    if (!hasOddQuotes(text)) return [{ number, fault: FAULT, text }];
    this.#open = [line];
    this.#openChars = text.length;
    return [];
  }

  #whole(): CsvRecord | undefined {
    const text = this.#open.map((line) => line.text).join('\n');
    const fields = parseCsvLine(text, this.#separator);
    const number = this.#open[0]?.number;
    if (fields?.length !== this.#fieldCount || number === undefined) return undefined;
    this.#close();
    return { number, fields };
  }

  #giveUp(): CsvRecord[] {
    const [first, ...rest] = this.#open;
    this.#close();
    const fault = first === undefined ? [] : [{ ...first, fault: FAULT }];
    return [...fault, ...this.#read(rest)];
  }

  #close(): void {
    this.#open = [];
    this.#openChars = 0;
  }
}

function hasOddQuotes(text: string): boolean {
  let isOdd = false;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isOdd = !isOdd;
  return isOdd;
}
