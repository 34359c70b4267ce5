import { isUtf8 } from 'node:buffer';

/** A line without its end, or why it has no text. Lines count from 1. */
export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly fault: string };

/** Far beyond any line of ours: a file without line ends must not fill the memory. */
const LINE_BYTES_MAX = 64 * 1024;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from('\u{feff}', 'utf8');

/**
 * Splits bytes into lines of UTF-8 text (ended by LF or CRLF) as they come, holding one at a time.
 * A byte order mark before the first is dropped, as spreadsheets write one. What is not UTF-8, or
 * longer than 64 KiB, costs its own line alone.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 0;
  let begun: Buffer = Buffer.alloc(0);
  let tooLong = false;
  for await (const chunk of chunks) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end);
      tooLong ||= begun.length + piece.length > LINE_BYTES_MAX;
      if (end === -1) {
        begun = tooLong ? begun : Buffer.concat([begun, piece]);
        break;
      }
      number += 1;
      yield lineOf(number, begun.length === 0 ? piece : Buffer.concat([begun, piece]), tooLong);
      begun = Buffer.alloc(0);
      tooLong = false;
      from = end + 1;
    }
  }
  if (begun.length > 0 || tooLong) yield lineOf(number + 1, begun, tooLong);
}

function lineOf(number: number, bytes: Buffer, tooLong: boolean): Line {
  if (tooLong) return { number, fault: `is longer than ${LINE_BYTES_MAX} bytes` };
  if (!isUtf8(bytes)) return { number, fault: 'is not UTF-8 text' };
  const marked = number === 1 && bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const start = marked ? BYTE_ORDER_MARK.length : 0;
  const end = bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length;
  return { number, text: bytes.toString('utf8', start, end) };
}
