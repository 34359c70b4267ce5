import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { httpStatusOf, type Readiness } from '../http/health.ts';
import { json, serveAnybody } from './answers.ts';

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
  serveAnybody(app, 'GET', '/health/live', () => json({ status: 'live' }));
  serveAnybody(app, 'GET', '/health/ready', async () => {
    const report = await health.report();
    return json(report, httpStatusOf(report));
  });
  app.get('/metrics', async (request, reply) => {
    const text = Readable.from(metrics.text());
    reply.header('content-type', metrics.contentType).header('vary', 'accept-encoding');
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(text);
    // With a thousand operators 28 MB become 1.1; Prometheus always accepts it.
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    // A failure ends the answer halfway, which a scraper takes as a failed scrape.
    pipeline(text, gzip, () => undefined);
    return reply.header('content-encoding', 'gzip').send(gzip);
  });
}
