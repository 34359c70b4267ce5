import { isUtf8 } from 'node:buffer';

/** A line without its end, or why it has no text. Lines count from 1. */
export type Line =
  | { readonly number: number; readonly text: string }
  | {
      readonly number: number;
      readonly fault: string;
      /** Its bytes, each as one character, to tell two such lines apart; empty of one that is too long. */
      readonly latin1: string;
    };

/** Far longer than any real line; limited, so that a file without line ends does not fill the memory. */
const LINE_BYTES_MAX = 64 * 1024;

export const ENDS_WITH_RETURN = 'has carriage returns (CR) alone: end lines with LF or CRLF';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const NOTHING = Buffer.alloc(0);
const BYTE_ORDER_MARK = Buffer.from('\u{feff}', 'utf8');

/**
 * Splits bytes into lines of UTF-8 text (LF or CRLF), without a byte order mark. A line that is not UTF-8, or
 * longer than 64 KiB, does not affect the others.
 */
export class LineSplitter {
  #number = 0;
  #begun: Buffer = NOTHING;
  #tooLong = false;
  #hasReturn = false;

  /** The lines that end in this chunk. */
  take(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end);
      this.#tooLong ||= this.#begun.length + piece.length > LINE_BYTES_MAX;
      this.#hasReturn ||= this.#tooLong && [this.#begun, piece].some((one) => one.includes(RETURN));
      if (end === -1) {
        if (!this.#tooLong) this.#begun = Buffer.concat([this.#begun, piece]);
        return lines;
      }
      const bytes = this.#begun.length === 0 ? piece : Buffer.concat([this.#begun, piece]);
      lines.push(this.#line(bytes));
      from = end + 1;
    }
  }

  /** The last line, if it has no line end. */
  end(): Line[] {
    return this.#begun.length > 0 || this.#tooLong ? [this.#line(this.#begun)] : [];
  }

  #line(bytes: Buffer): Line {
    this.#number += 1;
    const line = this.#tooLong
      ? { number: this.#number, fault: tooLongFault(this.#hasReturn), latin1: '' }
      : lineOf(this.#number, bytes);
    this.#begun = NOTHING;
    this.#tooLong = false;
    this.#hasReturn = false;
    return line;
  }
}

/** The lines of a source, one by one. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  const splitter = new LineSplitter();
  for await (const chunk of chunks) yield* splitter.take(chunk);
  yield* splitter.end();
}

/** Lists from old spreadsheets end their lines with CR alone, which makes one line of all. */
function tooLongFault(hasReturn: boolean): string {
  const fault = `is longer than ${LINE_BYTES_MAX} bytes`;
  return hasReturn ? `${fault} and ${ENDS_WITH_RETURN}` : fault;
}

function lineOf(number: number, bytes: Buffer): Line {
  if (!isUtf8(bytes)) {
    return { number, fault: 'is not UTF-8 text', latin1: bytes.toString('latin1') };
  }
  const marked = number === 1 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const start = marked ? BYTE_ORDER_MARK.length : 0;
  const end = bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length;
  return { number, text: bytes.toString('utf8', start, end) };
}
