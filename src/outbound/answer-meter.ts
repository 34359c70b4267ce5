import type { Socket } from 'node:net';

/**
 * What may stand around an answer's body, in all: heads, informational answers, chunk sizes and
 * extensions, trailers. The largest head that is read is 16 KiB.
 */
const FRAME_BYTES_MAX = 128 * 1024;

/** The other side sends more than any answer may be; what it says is no answer. */
export class EndlessAnswerError extends Error {
  readonly code = 'ENDLESS_ANSWER';
}

/**
 * The parser is handed so much at a time. Where it finds too large a head, it makes an error of
 * every further line in the same piece: 40 ms of the processor with the 64 KiB that the system gives.
 */
const PIECE_BYTES_MAX = 512;

/**
 * Breaks a connection off when more bytes come in answer to one request than any answer may have.
 * The HTTP parser counts headers and bodies, but not what stands between them: bytes without end
 * there would keep this process at reading them for one operator, and all others waiting (I7).
 *
 * @param bodyBytesMax of the answers that are expected, asked each time
 */
export function limitAnswers(socket: Socket, bodyBytesMax: () => number): void {
  const read: (bytes?: number) => Buffer | null = socket.read.bind(socket);
  let written = socket.bytesWritten;
  let answerBytes = 0;
  // The parser takes everything through this, and no further once it has broken the connection.
  socket.read = () => {
    if (socket.destroyed) return null;
    const piece = socket.readableLength > PIECE_BYTES_MAX ? read(PIECE_BYTES_MAX) : read();
    if (piece === null) return null;
    // One request at a time: whatever comes after the last one was written is its answer.
    if (socket.bytesWritten !== written) answerBytes = 0;
    written = socket.bytesWritten;
    answerBytes += piece.length;
    const bytesMax = bodyBytesMax() + FRAME_BYTES_MAX;
    if (answerBytes <= bytesMax) return piece;
    socket.destroy(
      new EndlessAnswerError(`more than ${bytesMax} bytes came in answer to one request`),
    );
    return null;
  };
}
