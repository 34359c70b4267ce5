import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import Fastify from 'fastify';
import { request } from 'undici';
import { probeRoutes } from '../src/admin/operators/probes.ts';
import type { Metrics } from '../src/telemetry/metrics.ts';
import { readSettings, SCRAPE_HELP } from './scrape/settings.ts';
import { busyMetrics } from './scrape/thousand-operators.ts';

/**
 * What one scrape costs. @returns the exit code
 * @throws SettingsError
 */
export async function runScrape(args: readonly string[]): Promise<number> {
  const settings = readSettings(args);
  if (settings.help) {
    console.log(SCRAPE_HELP);
    return 0;
  }
  const { operators, scrapes, resultFile } = settings;
  const metrics = busyMetrics(operators);
  const figures = await measure(metrics, scrapes);
  console.log(
    `scrape with ${operators} operators: ${figures.samples} samples, ` +
      `${megabytes(figures.textBytes)} of text, ${megabytes(figures.wireBytes)} on the wire; ` +
      `median ${figures.medianMs} ms, slowest ${figures.slowestMs} ms; ` +
      `callbacks wait at most ${figures.heldMsMax} ms (p99 ${figures.heldMsP99})`,
  );
  await writeResult(resultFile, { operators, ...figures });
  return 0;
}

async function measure(metrics: Metrics, scrapes: number) {
  const app = Fastify();
  probeRoutes(app, {
    health: { report: () => Promise.reject(new Error('nobody asks')) },
    metrics: { contentType: metrics.registry.contentType, text: metrics.text },
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const scrape = async () => {
    const startedAtMs = performance.now();
    const answer = await request(`${url}/metrics`, { headers: { 'accept-encoding': 'gzip' } });
    const body = await answer.body.arrayBuffer();
    return { ms: performance.now() - startedAtMs, wireBytes: body.byteLength };
  };
  // Warms up: compiled and with all its lines, as from the second minute on.
  for (let warm = 0; warm < 3; warm++) await scrape();
  const held = monitorEventLoopDelay({ resolution: 1 });
  held.enable();
  const taken: { readonly ms: number; readonly wireBytes: number }[] = [];
  for (let count = 0; count < scrapes; count++) taken.push(await scrape());
  held.disable();
  await app.close();
  const text = (await Array.fromAsync(metrics.text())).join('');
  const times = taken.map(({ ms }) => ms).sort((one, other) => one - other);
  return {
    samples: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
    textBytes: Buffer.byteLength(text),
    wireBytes: Math.max(...taken.map(({ wireBytes }) => wireBytes)),
    medianMs: Math.round(times[Math.floor(times.length / 2)] ?? 0),
    slowestMs: Math.round(times.at(-1) ?? 0),
    heldMsMax: Math.round(held.max / 1e6),
    heldMsP99: Math.round(held.percentile(99) / 1e6),
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

async function writeResult(file: string, figures: object): Promise<void> {
  const result = {
    benchmark: 'scrape',
    measuredAt: new Date().toISOString(),
    on: {
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
      processors: availableParallelism(),
    },
    ...figures,
  };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
}
