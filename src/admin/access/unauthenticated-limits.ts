import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../domain/clock.ts';
import { Connections } from '../../http/connections.ts';

const LIMITS = {
  /** For a few people and the machines that poll. */
  maxConnections: 500,
  /** For clients that never read their answer; longer than a scrape may take. Idle ones are closed long before. */
  strangerIdleMs: 300_000,
  /** A body is 64 KiB at most; only authenticated callers send longer ones. */
  arrivingBytesMax: 8 * 1_048_576,
};

/** How much more is read of a body after its refusal was sent: the sender may not have read it yet. */
const REFUSED_BYTES_MAX = 16 * 1024;

/**
 * Applies the public listener's limits to unauthenticated clients: bodies in tiny pieces and pipelined requests would
 * keep the process from its callbacks, and idle connections would lock people and scrapers out of this
 * listener (I7). The connection of an authenticated caller is exempt.
 */
export function limitUnauthenticated(app: FastifyInstance, clock: Clock): void {
  const connections = new Connections(app.server, {
    clock,
    limits: () => LIMITS,
    onClosed: () => undefined,
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (connections.began(request.raw)) done();
    else reply.hijack();
  });
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { socket } = request;
    if (request.caller === undefined) {
      // Synchronously, so that no data flows before the body's own reader listens too.
      payload.on('data', (piece: Buffer) => connections.arrived(socket, piece.length));
      payload.once('close', () => connections.arrivedWhole(socket));
      payload.once('end', () => connections.arrivedWhole(socket));
    } else {
      connections.trust(socket);
    }
    done(null, payload);
  });
  app.addHook('onResponse', (request, _reply, done) => {
    connections.answered(request.raw);
    if (request.caller === undefined) endSoon(request);
    done();
  });
}

function endSoon({ raw, socket }: FastifyRequest): void {
  if (raw.complete || socket.destroyed) return;
  let left = REFUSED_BYTES_MAX;
  const count = (bytes: Buffer) => {
    left -= bytes.length;
    if (left < 0) socket.destroy();
  };
  socket.on('data', count);
  raw.once('close', () => socket.off('data', count));
}
