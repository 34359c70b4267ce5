import { pipeline } from 'node:stream';
import { setImmediate as otherWork } from 'node:timers/promises';
import { constants, createGzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { httpStatusOf, type Readiness } from '../../http/health.ts';
import { KeyedSemaphore } from '../../lib/keyed-semaphore.ts';
import { json, piecesFor, serveAnybody } from '../answers.ts';

export interface Probes {
  readonly health: Pick<Readiness, 'report'>;
  readonly metrics: {
    readonly contentType: string;
    /** All metrics in Prometheus's text format, chunk by chunk. */
    readonly text: () => AsyncIterable<string>;
  };
}

/** Health and metrics of this process; without a token, as usual for such listeners. */
export function probeRoutes(app: FastifyInstance, { health, metrics }: Probes): void {
  serveAnybody(app, '/health/live', () => json({ status: 'live' }));
  serveAnybody(app, '/health/ready', async () => {
    const report = await health.report();
    return json(report, httpStatusOf(report));
  });
  const semaphore = new KeyedSemaphore(1);
  app.get('/metrics', async (request, reply) => {
    // A hundred scrapes at once would block the process for seconds (I7); other addresses are not affected.
    const { ip } = request;
    const take = () => semaphore.take(ip);
    const text = piecesFor(request, take, () => leavingTurns(metrics.text()));
    reply.header('content-type', metrics.contentType).header('vary', 'accept-encoding');
    const isGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    if (!isGzip || request.method === 'HEAD') return reply.send(text);
    // With a thousand operators, 28 MB become 1.1 MB; Prometheus always accepts gzip.
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    // A failure cuts the answer off, which a scraper treats as a failed scrape.
    pipeline(text, gzip, () => undefined);
    return reply.header('content-encoding', 'gzip').send(gzip);
  });
}

/** With everything else that waits, such as callbacks, behind each chunk. */
async function* leavingTurns(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    await otherWork();
    yield chunk;
  }
}
