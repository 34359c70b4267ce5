import type { Socket } from 'node:net';

/**
 * The parser gets this much at a time. Node gives it up to 64 KiB, and it calls back for every
 * request and every chunk in them before anybody can stop it: 70 to 100 ms of the processor.
 */
const PIECE_BYTES_MAX = 1024;

/**
 * Has Node's HTTP parser read a connection in small pieces, and no further once it is destroyed.
 * To be called when the connection has come, before anything was read from it.
 */
export function readInSmallPieces(socket: Socket): void {
  // A listener for data gets it; without one the parser reads from the system by itself.
  const parsers = socket.listeners('data');
  socket.removeAllListeners('data');
  const waiting: Buffer[] = [];
  const readNext = () => {
    // What nobody reads any more is given back at once: up to 64 KiB of each connection.
    if (socket.destroyed) waiting.length = 0;
    const [bytes] = waiting;
    if (bytes === undefined) return;
    if (bytes.length > PIECE_BYTES_MAX) waiting[0] = bytes.subarray(PIECE_BYTES_MAX);
    else waiting.shift();
    for (const parse of parsers) parse.call(socket, bytes.subarray(0, PIECE_BYTES_MAX));
    // What arrived of a body is emitted in a tick of its own; all of these are over before the next
    // read.
    if (waiting.length > 0) process.nextTick(readNext);
  };
  socket.on('data', (bytes: Buffer) => {
    waiting.push(bytes);
    if (waiting.length === 1) readNext();
  });
}
