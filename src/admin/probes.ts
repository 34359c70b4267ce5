import type { FastifyInstance } from 'fastify';
import { httpStatusOf, type Readiness } from '../http/health.ts';
import { json, serve } from './answers.ts';

export interface Probes {
  readonly health: Pick<Readiness, 'report'>;
  /** All metrics in Prometheus's text format. */
  readonly metricsText: () => Promise<{ readonly contentType: string; readonly body: string }>;
}

/** What machines ask about this process; without a token, like every such listener. */
export function probeRoutes(app: FastifyInstance, { health, metricsText }: Probes): void {
  serve(app, 'GET', '/health/live', () => json({ status: 'live' }));
  serve(app, 'GET', '/health/ready', async () => {
    const report = await health.report();
    return json(report, httpStatusOf(report));
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, body } = await metricsText();
    return reply.header('content-type', contentType).send(body);
  });
}
