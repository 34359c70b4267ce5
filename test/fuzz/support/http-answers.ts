import fc from 'fast-check';

/** An answer that HTTP allows: its bytes, and what they mean. */
export interface GoodAnswer {
  readonly wire: Buffer;
  readonly status: number;
  readonly body: string;
}

const BODY = '{"transactionId":"t1","transactionTime":"2026-01-02T03:04:05Z","a":"\u{1F3B2}é"}';

const header = fc.constantFrom(
  'content-type: application/json',
  'Content-Type:application/json;charset=utf-8',
  'x-empty:',
  'connection: keep-alive',
  'keep-alive: timeout=5, max=100',
  'date: Thu, 01 Jan 1970 00:00:00 GMT',
  `x-long: ${'y'.repeat(2_000)}`,
  'x-many: 1',
  'set-cookie: a=b',
  'location: http://127.0.0.1:1/elsewhere',
  'content-encoding: gzip',
);

const hint = fc.constantFrom(
  '',
  'HTTP/1.1 102 Processing\r\n\r\n',
  'HTTP/1.1 103 Early\r\nlink: </a>\r\n\r\n',
);

/** Any spelling of a complete answer: early hints, a length or chunks, extensions, trailers. */
export const goodAnswer: fc.Arbitrary<GoodAnswer> = fc
  .record({
    hint,
    status: fc.constantFrom(200, 201, 302, 400, 404, 500, 503),
    reason: fc.constantFrom('OK', '', 'Bad Request with spaces', 'ünicode'),
    headers: fc.array(header, { maxLength: 4 }),
    body: fc.oneof(fc.constantFrom(BODY, '', '{}', 'null'), fc.string({ maxLength: 60 })),
    cuts: fc.option(fc.array(fc.nat(), { maxLength: 5 })),
    upper: fc.boolean(),
    extension: fc.constantFrom('', ';a', ';a=b', ';a="b c"'),
    trailers: fc.constantFrom('', 'x-sum: 1\r\n', 'x-sum: 1\r\nx-more: 2\r\n'),
  })
  .map((parts) => {
    const bytes = Buffer.from(parts.body);
    const framed =
      parts.cuts === null
        ? [`content-length: ${bytes.length}\r\n\r\n`, bytes]
        : ['transfer-encoding: chunked\r\n\r\n', chunked(bytes, parts.cuts, parts)];
    const head = `${parts.hint}HTTP/1.1 ${parts.status} ${parts.reason}\r\n`;
    const fields = parts.headers.map((line) => `${line}\r\n`).join('');
    const pieces = [head, fields, ...framed].map((piece) =>
      typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece,
    );
    return { wire: Buffer.concat(pieces), status: parts.status, body: parts.body };
  });

function chunked(
  body: Buffer,
  cuts: readonly number[],
  how: { readonly upper: boolean; readonly extension: string; readonly trailers: string },
): Buffer {
  const ends = [...new Set(cuts.map((cut) => cut % (body.length + 1))), body.length];
  const pieces: Buffer[] = [];
  let from = 0;
  for (const end of ends.sort((a, b) => a - b)) {
    if (end === from) continue;
    const size = (end - from).toString(16);
    const line = `${how.upper ? size.toUpperCase().padStart(4, '0') : size}${how.extension}\r\n`;
    pieces.push(Buffer.from(line), body.subarray(from, end), Buffer.from('\r\n'));
    from = end;
  }
  return Buffer.concat([...pieces, Buffer.from(`0\r\n${how.trailers}\r\n`)]);
}

/** Pieces that break the framing of an answer. */
export const HTTP_WORDS: readonly string[] = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.0 200 OK\r\n',
  'HTTP/9.9 999 ?\r\n',
  'HTTP/1.1 000 x\r\n',
  'HTTP/1.1 99 x\r\n',
  'content-length: -1\r\n',
  'content-length: 0\r\n',
  'content-length: 5\r\n',
  'content-length: 99999999999999999999\r\n',
  'content-length: 0x10\r\n',
  'content-length: 1, 1\r\n',
  'transfer-encoding: chunked\r\n',
  'transfer-encoding: gzip, chunked\r\n',
  'transfer-encoding: chunked, identity\r\n',
  'connection: close\r\n',
  'connection: upgrade\r\nupgrade: h2c\r\n',
  ' folded: line\r\n',
  ': no name\r\n',
  'x\0y: z\r\n',
  '\r\n\r\n',
  '\r',
  '\n\n',
  'ffffffffffffffff\r\n',
  '-1\r\n',
  '0\r\n\r\n',
  'g\r\n',
];
