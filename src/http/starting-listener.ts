import { once } from 'node:events';
import { createServer } from 'node:http';
import { CODES } from '../domain/codes.ts';
import { failure } from '../protocol/answers.ts';
import type { ReadinessStatus } from './health.ts';

/** Probes ask now and then, and close; a stranger must not hold more. */
const CONNECTIONS_MAX = 32;
const REQUEST_MS = 2_000;
/** Node's own is 30 s: until then, who has said nothing would keep a connection. */
const CHECK_EVERY_MS = 500;

/** Of the form of a `ReadinessReport`; neither dependency has been asked so far. */
const REPORT = {
  status: 'starting' satisfies ReadinessStatus,
  dependencies: { postgresql: 'unknown', redis: 'unknown' },
};

/** To people and commands. */
const REFUSAL = failure(
  CODES.system,
  'The gateway is starting: it waits for PostgreSQL, or migrates. Nothing was done',
  503,
);

/**
 * Answers every request with 503, `starting`, while a process waits for its servers or migrates; liveness too,
 * so that it does not replace a process that serves. @returns closes it and frees its port
 * @throws Error of `listen`
 */
export async function openStartingListener(at: {
  readonly host: string;
  readonly port: number;
}): Promise<() => Promise<void>> {
  const report = JSON.stringify(REPORT);
  const server = createServer({
    requestTimeout: REQUEST_MS,
    headersTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.on('request', ({ url }, response) => {
    response.writeHead(503, { 'content-type': 'application/json', connection: 'close' });
    response.end(url?.startsWith('/health/') ? report : REFUSAL.body);
  });
  server.listen(at);
  await once(server, 'listening');
  return async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
}
