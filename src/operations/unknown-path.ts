import type { FastifyRequest } from 'fastify';
import { plain } from '../lib/plain-text.ts';
import { TokenBuckets } from '../lib/token-bucket.ts';
import { verify } from '../protocol/signature.ts';
import type { Callbacks } from './callbacks.ts';
import type { CallbackEdge } from './routes.ts';

const LINES = { perSecond: 1 / 60, burst: 1 };
const PATH_CHARACTERS_MAX = 200;

/**
 * Records requests of the service to paths that are not there: its address of the gateway is wrong, and no other metric
 * moves. The signature is verified first, so that a stranger can write neither a line nor a label; a request without
 * one costs nothing, and one with a wrong one as much as on a path that is there.
 */
export function unknownPaths(
  { metrics, logger, clock }: Callbacks,
  { isAllowed, serviceKeys }: CallbackEdge,
): (request: FastifyRequest) => void {
  const lines = new TokenBuckets(clock, LINES);
  return (request) => {
    const signature = request.headers['x-sign-jws'];
    if (signature === undefined || !isAllowed(request.ip)) return;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    if (!verify(signature, body, serviceKeys()).ok) return;
    request.trust();
    metrics.rejected.inc({ operator: 'unknown', reason: 'path' });
    if (lines.take('path') > 0) return;
    const { method, url } = request;
    logger.warn({ method, path: shown(url) }, 'callback.path_unknown');
  };
}

function shown(url: string): string {
  const [path = ''] = url.split('?');
  return plain(
    path.length <= PATH_CHARACTERS_MAX ? path : `${path.slice(0, PATH_CHARACTERS_MAX)}…`,
  );
}
