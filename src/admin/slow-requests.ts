import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A request that is not complete after this long is broken off. */
const REQUEST_MS = 5_000;
/** One that may take its time, because its body is long, still ends; Node looks after this itself. */
export const LONG_REQUEST_MS = 4 * 3_600_000;
/** Of such a one, so long without a byte. */
const IDLE_MS = 60_000;

const limits = new WeakMap<FastifyRequest, NodeJS.Timeout>();

/** Breaks off whoever sends slowly, known or not; only `takesItsTime` lets somebody do so. */
export function breakOffSlow(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    const { raw } = request;
    const limit = setTimeout(() => {
      if (!raw.complete) raw.destroy();
    }, REQUEST_MS);
    limit.unref();
    limits.set(request, limit);
    raw.once('close', () => clearTimeout(limit));
  });
}

/** For a caller who may: its body may be long, as long as it comes. */
export function takesItsTime(request: FastifyRequest): void {
  clearTimeout(limits.get(request));
  // Without a listener the connection is broken off, and reading its body fails.
  request.raw.setTimeout(IDLE_MS);
}
