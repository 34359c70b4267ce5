import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { AggregatorRegistry } from 'prom-client';
import { GatewayError } from './domain/errors.ts';
import { OutOfTime, within } from './domain/within.ts';
import type { Logger } from './telemetry/logger.ts';
import type { Metrics } from './telemetry/metrics.ts';

/** A scrape does not wait longer for a worker process that is busy or gone. */
const COLLECT_MS = 1_000;
/** A worker process that dies at once is not started again at once. */
const RESTART_MS = 1_000;

type MetricsJson = Awaited<ReturnType<Metrics['registry']['getMetricsAsJSON']>>;

/** The HTTP worker processes that share the public port (`WORKERS`). */
export class HttpWorkers {
  readonly #logger: Logger;
  readonly #workers = new Set<Worker>();
  #stopping = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Resolves when every worker process listens.
   * @throws GatewayError `CANNOT_START` when one ends before it does; it has said why itself
   */
  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => listening(this.#fork())));
  }

  /** This process's metrics and all workers', summed. */
  async metricsText(own: Metrics): Promise<string> {
    const workers = await Promise.all([...this.#workers].map((worker) => collectFrom(worker)));
    const all = [await own.registry.getMetricsAsJSON(), ...workers];
    return await AggregatorRegistry.aggregate(
      all.filter((metrics) => metrics !== undefined),
    ).metrics();
  }

  /** Asks every worker process to drain and waits until they are gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(
      [...this.#workers].map(async (worker) => {
        const exited = once(worker, 'exit');
        worker.process.kill('SIGTERM');
        await exited;
      }),
    );
  }

  #fork(): Worker {
    const worker = cluster.fork();
    this.#workers.add(worker);
    worker.once('exit', (code, signal) => {
      this.#workers.delete(worker);
      if (this.#stopping) return;
      this.#logger.error({ pid: worker.process.pid, code, signal }, 'cluster.worker_died');
      setTimeout(() => {
        if (!this.#stopping) this.#fork();
      }, RESTART_MS);
    });
    return worker;
  }
}

async function listening(worker: Worker): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  worker.once('listening', () => resolve());
  worker.once('exit', () =>
    reject(new GatewayError('CANNOT_START', 'an HTTP worker process ended before it listened')),
  );
  await promise;
}

/** In a worker process: answers the parent's question for metrics. */
export function answerForMetrics(metrics: Metrics): void {
  process.on('message', (message: unknown) => {
    if (message !== 'metrics') return;
    void metrics.registry.getMetricsAsJSON().then((json) => process.send?.({ metrics: json }));
  });
}

async function collectFrom(worker: Worker): Promise<MetricsJson | undefined> {
  const answer = once(worker, 'message');
  worker.send('metrics');
  try {
    const [message]: unknown[] = await within(COLLECT_MS, answer);
    return isMetricsMessage(message) ? message.metrics : undefined;
  } catch (error) {
    if (error instanceof OutOfTime) return undefined;
    throw error;
  }
}

function isMetricsMessage(message: unknown): message is { metrics: MetricsJson } {
  return typeof message === 'object' && message !== null && 'metrics' in message;
}
