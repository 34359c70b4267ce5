import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A request that has not arrived completely after this long is aborted. */
const REQUEST_MS = 5_000;
/** The limit for a request with a long body (`takesItsTime`); Node enforces it. */
export const LONG_REQUEST_MS = 4 * 3_600_000;
/** How long such a request may go without a byte. */
const IDLE_MS = 60_000;

const limits = new WeakMap<FastifyRequest, NodeJS.Timeout>();

/** Aborts requests that arrive slowly, authenticated or not; only `takesItsTime` exempts one. */
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

/** Exempts an authorized caller's long body, as long as it keeps arriving. */
export function takesItsTime(request: FastifyRequest): void {
  clearTimeout(limits.get(request));
  // Nothing listens for `timeout`, so Node destroys the connection and reading the body fails.
  request.raw.setTimeout(IDLE_MS);
}
