import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../domain/clock.ts';
import { Connections } from '../http/connections.ts';

const LIMITS = {
  /** Machines that ask, and a few people. */
  maxConnections: 500,
  /** Silent ones are closed long before; this is for who never takes an answer, longer than a scrape may take. */
  strangerIdleMs: 300_000,
  /** A body is 64 KiB at most; only somebody known sends longer ones. */
  arrivingBytesMax: 8 * 1_048_576,
};

/** Of a body whose sender has been refused already, so much more is read: it may not have heard yet. */
const REFUSED_BYTES_MAX = 16 * 1024;

/**
 * Holds whoever is not known to what strangers may do at the public listener: bodies in crumbs and requests
 * that wait for no answer would keep the process from its callbacks, and idle connections people and
 * scrapers from this listener (I7). The connection of somebody known is that person's.
 */
export function limitStrangers(app: FastifyInstance, clock: Clock): void {
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
      // All of this in one turn: nothing flows before the body's own reader listens too.
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
