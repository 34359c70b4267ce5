import type { Socket } from 'node:net';

/**
 * How much the parser gets at a time. Node gives it up to 64 KiB, and it calls back for every request
 * and chunk in them before it can be stopped: 70 to 100 ms of processor time.
 */
const PIECE_BYTES_MAX = 1024;

/**
 * Makes Node's HTTP parser read a connection in small pieces, and stop once it is destroyed.
 * Call it when the connection arrives, before anything was read from it.
 */
export function readInSmallPieces(socket: Socket): void {
  // With a `data` listener the data goes to it; without one the parser reads from the system directly.
  const parsers = socket.listeners('data');
  socket.removeAllListeners('data');
  const waiting: Buffer[] = [];
  let isDue = false;
  const readNext = () => {
    isDue = false;
    // Frees unread data at once: up to 64 KiB per connection.
    if (socket.destroyed) waiting.length = 0;
    const [bytes] = waiting;
    // While answers before it are not taken, Node pauses the connection. Its parser must get nothing then: that ends the
    // process. `resume` goes on.
    if (bytes === undefined || socket.isPaused()) return;
    if (bytes.length > PIECE_BYTES_MAX) waiting[0] = bytes.subarray(PIECE_BYTES_MAX);
    else waiting.shift();
    for (const parse of parsers) parse.call(socket, bytes.subarray(0, PIECE_BYTES_MAX));
    // Body data is emitted in ticks of its own; all of them have run before the next
    // read.
    readSoon();
  };
  const readSoon = () => {
    if (isDue || waiting.length === 0) return;
    isDue = true;
    process.nextTick(readNext);
  };
  socket.on('data', (bytes: Buffer) => {
    waiting.push(bytes);
    if (waiting.length === 1) readNext();
  });
  socket.on('resume', readSoon);
  socket.once('close', readSoon);
}
