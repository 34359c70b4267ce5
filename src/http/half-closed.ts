import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { answerOn } from './unreadable.ts';

/** What every answer begins with. It is sent early, a byte at a time. */
const START = 'HTTP/1.1 ';
/** A byte provokes a reset after a round trip, and the next byte finds it. */
const PAUSES_MS = [1, 4, 15, 50, 150, 400, 1_000, 2_000];

/**
 * Serves callers that end their side after the body and still read. TCP shows the same end for one that has
 * closed: so the answer is begun at once, and whoever has gone resets the connection (I11).
 */
export function serveHalfClosed(server: Server): void {
  // Node would end our side too, before the answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('connection', (socket: Socket) => socket.once('end', () => beginAnswer(socket)));
}

function beginAnswer(socket: Socket): void {
  const answer = answerOn(socket);
  if (answer === undefined || answer.headersSent) return;
  const write = socket.write.bind(socket);
  let sent = 0;
  const sendByte = () => {
    if (socket.destroyed || answer.headersSent || sent >= PAUSES_MS.length) return;
    write(START.charAt(sent), 'latin1');
    setTimeout(sendByte, PAUSES_MS[sent]).unref();
    sent += 1;
  };
  // The rest of the answer follows what is sent already.
  const writeRest = (data: Uint8Array | string, ...rest: unknown[]) => {
    socket.write = write;
    return Reflect.apply(write, socket, [data.slice(sent), ...rest]);
  };
  socket.write = writeRest;
  sendByte();
}
