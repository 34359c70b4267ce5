import type { FastifyInstance } from 'fastify';
import { wholeTurn } from '../lib/whole-turn.ts';

/** So long a connection that waits for its next request is kept: at any load worth the name, one comes. */
const IDLE_MS = 500;

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
  return async () => {
    isClosing = true;
    // What the system has accepted by now is taken first: it would be reset.
    await wholeTurn();
    closeIdleLater(app);
    await app.close();
  };
}

/**
 * Node's own `close`, and Fastify's, would end idle connections at once. Whoever keeps one may have sent its next
 * request already, which would be lost.
 */
function closeIdleLater({ server }: FastifyInstance): void {
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    // In the turn after: a timer that is late comes before what has arrived by then is read.
    setTimeout(() => setImmediate(closeIdle), IDLE_MS).unref();
  };
}
