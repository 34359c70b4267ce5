import type { Socket } from 'node:net';

/**
 * Allowed bytes around an answer's body in total: heads, informational answers, chunk sizes and
 * extensions, trailers. The largest head that is read is 16 KiB.
 */
const FRAME_BYTES_MAX = 128 * 1024;

/** The other side sends more bytes than any answer may have. */
export class EndlessAnswerError extends Error {
  readonly code = 'ENDLESS_ANSWER';
}

/**
 * How much the parser gets at a time. After too large a head it creates an error for every further line in
 * the same piece: 40 ms of processor time for the 64 KiB that the system returns.
 */
const PIECE_BYTES_MAX = 512;

/**
 * Closes a connection if more bytes come in answer to one request than any answer may have.
 * The HTTP parser limits headers and bodies, but not the bytes between them: an endless stream of
 * those would keep this process busy for one operator while all others wait (I7).
 *
 * @param bodyBytesMax of the expected answers; called each time
 */
export function limitAnswers(socket: Socket, bodyBytesMax: () => number): void {
  const read: (bytes?: number) => Buffer | null = socket.read.bind(socket);
  let written = socket.bytesWritten;
  let answerBytes = 0;
  const meteredRead = () => {
    if (socket.destroyed) return null;
    const piece = socket.readableLength > PIECE_BYTES_MAX ? read(PIECE_BYTES_MAX) : read();
    if (piece === null) return null;
    // One request at a time: everything received after the latest one was written is its answer.
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
  // The parser reads everything through this; nothing more once the connection is destroyed.
  socket.read = meteredRead;
}
