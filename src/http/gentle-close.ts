import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { takeWaiting } from './take-waiting.ts';

/** How long an idle connection is kept for its next request, which under any real load comes in time. */
const IDLE_MS = 500;
/** How long waiting connections are still accepted; in a busy process each takes some milliseconds. */
const TAKE_MS = 1_000;

/**
 * Prepares a server, before it listens, to be closed without losing requests that are already on their way.
 * @returns a function that closes it: nothing new is accepted, and each open connection gets one more answer, with
 *   `connection: close`. Resolves when the last connection has ended
 */
export function gentleClose(app: FastifyInstance): () => Promise<void> {
  let isClosing = false;
  // Otherwise a connection whose request ends after that would be kept alive.
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });
  const open = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  // Waiting connections would be reset. The last step before closing, because new ones may arrive all the time.
  app.addHook('preClose', () => takeWaiting(app.server, TAKE_MS));
  return async () => {
    isClosing = true;
    closeIdleLater(app, open);
    await app.close();
  };
}

/**
 * Node's own `close`, and Fastify's, would end idle connections at once. Their clients may already have sent the next
 * request, which would be lost.
 */
function closeIdleLater({ server }: FastifyInstance, open: ReadonlySet<Socket>): void {
  const closeIdle = server.closeIdleConnections.bind(server);
  const end = () => {
    closeIdle();
    // Node does not count connections without any request as idle, and would wait for them indefinitely.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
  server.closeIdleConnections = () => {
    // In the next turn, because a late timer runs before requests that have already arrived are read.
    setTimeout(() => setImmediate(end), IDLE_MS).unref();
  };
}
