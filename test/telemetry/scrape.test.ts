import { gunzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeRoutes } from '../../src/admin/operators/probes.ts';
import { OPERATIONS } from '../../src/domain/operation.ts';
import type { Metrics } from '../../src/telemetry/metrics.ts';
import { busyMetrics } from './support/thousand-operators.ts';

const OPERATORS = 1_000;
const WIRE_BYTES_MAX = 5_000_000;

describe('a scrape with a thousand operators that use everything', { timeout: 60_000 }, () => {
  let metrics: Metrics;
  let app: FastifyInstance;
  let url: string;
  beforeAll(async () => {
    metrics = busyMetrics(OPERATORS);
    app = Fastify();
    probeRoutes(app, {
      health: { report: () => Promise.reject(new Error('nobody asks')) },
      metrics: { contentType: metrics.registry.contentType, text: metrics.text },
    });
    url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/metrics`;
  });
  afterAll(() => app.close());

  const scrape = async (headers: Record<string, string>) => {
    const answer = await request(url, { headers });
    return { headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) };
  };

  it('stays under 5 MB on the wire, and is complete', async () => {
    const { headers, body } = await scrape({ 'accept-encoding': 'gzip;q=1.0,*;q=0.1' });
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(body.length).toBeLessThan(WIRE_BYTES_MAX);
    const lines = gunzipSync(body).toString().split('\n');
    const ends = lines.filter((line) =>
      /^gateway_callback_duration_seconds_bucket\{le="\+Inf",.*\} \d+$/.test(line),
    );
    expect(ends).toHaveLength(OPERATORS * OPERATIONS.length);
    expect(lines.at(-1)).toBe('');
  });

  it('is plain text for clients that do not accept gzip', async () => {
    const { headers, body } = await scrape({});
    expect(headers['content-encoding']).toBeUndefined();
    expect(body.toString()).toContain('# TYPE gateway_callbacks_total counter\n');
  });
});
