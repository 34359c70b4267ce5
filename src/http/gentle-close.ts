import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { takeWaiting } from './take-waiting.ts';

/** So long a connection that waits for its next request is kept: at any load worth the name, one comes. */
const IDLE_MS = 500;
/** How long what waits to be accepted is taken; a turn takes some milliseconds of a process that is busy. */
const TAKE_MS = 1_000;

/**
 * Prepares a server, before it listens, to be closed without losing what is on its way to it.
 * @returns closes it. From then on nothing new is accepted, and each open connection carries one more answer, which
 *   says that it is the last. Resolves when the last connection has ended
 */
export function gentleClose(app: FastifyInstance): () => Promise<void> {
  let isClosing = false;
  // Else a connection whose request ends by then would be kept alive.
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });
  const open = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  // It would be reset. The last that is done before the server is closed: where many come, more do all the time.
  app.addHook('preClose', () => takeWaiting(app.server, TAKE_MS));
  return async () => {
    isClosing = true;
    closeIdleLater(app, open);
    await app.close();
  };
}

/**
 * Node's own `close`, and Fastify's, would end idle connections at once. Whoever keeps one may have sent its next
 * request already, which would be lost.
 */
function closeIdleLater({ server }: FastifyInstance, open: ReadonlySet<Socket>): void {
  const closeIdle = server.closeIdleConnections.bind(server);
  const end = () => {
    closeIdle();
    // Those that have never carried a request Node does not take for idle, and would wait for until the end.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
  server.closeIdleConnections = () => {
    // In the turn after: a timer that is late comes before what has arrived by then is read.
    setTimeout(() => setImmediate(end), IDLE_MS).unref();
  };
}
