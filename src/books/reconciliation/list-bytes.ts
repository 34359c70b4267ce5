import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Incomparable, ListTooLarge } from './incomparable.ts';
import { letGo } from './list-source.ts';

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZIP = Buffer.from('PK\u{3}\u{4}', 'latin1');
const OLD_EXCEL = Buffer.from([0xd0, 0xcf, 0x11, 0xe0]);
const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];
const HEAD_BYTES = 4;

/**
 * The text of a list, decompressed if its first bytes say that it is gzip.
 * @param bytesMax of both the compressed and the decompressed size @throws ListTooLarge; Incomparable
 */
export async function* listBytes(
  chunks: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Buffer> {
  const source = limited(chunks, bytesMax);
  try {
    yield* textOf(source, bytesMax);
  } finally {
    letGo(source);
  }
}

async function* textOf(source: AsyncIterator<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < HEAD_BYTES) {
    const next = await source.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const whole = joined(head, source);
  if (!startsWith(head, GZIP)) {
    refuseBinary(head);
    yield* whole;
    return;
  }
  let isFirst = true;
  for await (const chunk of limited(unpacked(whole), bytesMax)) {
    if (isFirst) refuseBinary(chunk);
    isFirst = false;
    yield chunk;
  }
}

async function* joined(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (;;) {
    const next = await rest.next();
    if (next.done === true) return;
    yield next.value;
  }
}

async function* limited(chunks: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      throw new ListTooLarge(
        `the list is larger than ${Math.floor(bytesMax / 1_048_576)} MiB ` +
          '(books.reconciliationMebibytesMax): compare fewer days at once',
      );
    }
    yield chunk;
  }
}

async function* unpacked(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  // The reader of `gunzip` gets the error of either stream.
  pipeline(Readable.from(chunks, { objectMode: false }), gunzip, () => undefined);
  try {
    for await (const chunk of gunzip) {
      if (!Buffer.isBuffer(chunk)) throw new TypeError('gunzip gave no bytes');
      yield chunk;
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!code.startsWith('Z_')) throw error;
    const why = error instanceof Error ? error.message : code;
    throw new Incomparable(`its gzip is cut off or damaged (${why}): send it again, whole`, {
      cause: error,
    });
  }
}

function refuseBinary(head: Buffer): void {
  if (startsWith(head, ZIP) || startsWith(head, OLD_EXCEL)) {
    throw new Incomparable('the list is an Excel workbook or a ZIP: export it as CSV in UTF-8');
  }
  if (UTF16_MARKS.some((mark) => startsWith(head, mark))) {
    throw new Incomparable('the list is UTF-16: save it as CSV in UTF-8');
  }
}

function startsWith(bytes: Buffer, mark: Buffer): boolean {
  return bytes.subarray(0, mark.length).equals(mark);
}
