import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { InForce } from '../config/in-force.ts';
import type { Problem } from '../config/problems.ts';
import { GatewayError } from '../domain/errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { ask, type Readings, say } from './worker-talk.ts';

/** A worker process that died is replaced after this delay: the next may die at once as well. */
const RESTART_MS = 1_000;
/** A worker process drains for at most 10 s (docs/reference.md, Commands). */
const STOP_MS = 12_000;
const ANSWER_MS = 4_000;

interface Member {
  readonly worker: Worker;
  isListening: boolean;
  /** Its last metrics: without those of a late process, counters would seem to fall. */
  metrics: Readings;
}

/** The HTTP worker processes that share the public port (`WORKERS`). */
export class HttpWorkers {
  readonly #logger: Logger;
  readonly #inForce: () => InForce;
  readonly #members = new Set<Member>();
  /** Totals of the processes that have ended: a total that falls looks like many new events. */
  #ended: Readings = [];
  #databaseId = '';
  /** Until every worker process listens, the end of one fails the start. */
  #hasStarted = false;
  #stopping = false;

  constructor(logger: Logger, inForce: () => InForce) {
    this.#logger = logger;
    this.#inForce = inForce;
  }

  /** Resolves when every worker process listens. @throws GatewayError `CANNOT_START` when one ends before */
  async start(count: number, databaseId: string): Promise<void> {
    this.#databaseId = databaseId;
    // Sends maps and numbers unchanged.
    cluster.setupPrimary({ serialization: 'advanced' });
    try {
      await Promise.all(Array.from({ length: count }, () => listening(this.#fork())));
    } catch (error) {
      // The others would find their parent gone in the middle of their start.
      await this.stop();
      throw error;
    }
    this.#hasStarted = true;
  }

  /** The metrics of this process and all workers, summed. */
  async registry(own: Metrics): Promise<Registry> {
    const readings = [...this.#members].map(async (member) => {
      const metrics = await ask(member.worker, 'metrics', ANSWER_MS);
      if (metrics !== undefined) member.metrics = metrics;
      return member.metrics;
    });
    const workers = await Promise.all(readings);
    const here = await own.registry.getMetricsAsJSON();
    return AggregatorRegistry.aggregate([here, this.#ended, ...workers]);
  }

  /** Whether any worker process listens: without one, nobody takes callbacks. */
  takeCallbacks(): boolean {
    return [...this.#members].some(({ isListening }) => isListening);
  }

  /** @returns the problems of every worker's reload; a worker that does not answer is a problem */
  async reload(): Promise<readonly Problem[]> {
    const reloads = [...this.#members].map(async ({ worker }): Promise<readonly Problem[]> => {
      const problems = await ask(worker, 'reload', ANSWER_MS);
      // The replacement of one that has ended starts with the current files.
      if (problems !== undefined || worker.isDead()) return problems ?? [];
      const reason = `has not read the files within ${ANSWER_MS} ms`;
      return [{ file: `worker process ${worker.process.pid}`, path: '', reason }];
    });
    return (await Promise.all(reloads)).flat();
  }

  /** Asks every worker process to drain and waits until they are gone; kills those that hang. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const stops = [...this.#members].map(async ({ worker }) => {
      const exited = once(worker, 'exit');
      worker.process.kill('SIGTERM');
      const impatience = setTimeout(() => {
        this.#logger.error(
          { pid: worker.process.pid, note: 'it is killed' },
          'cluster.worker_hangs',
        );
        worker.process.kill('SIGKILL');
      }, STOP_MS);
      await exited;
      clearTimeout(impatience);
    });
    await Promise.all(stops);
  }

  #fork(): Worker {
    const worker = cluster.fork();
    const member: Member = { worker, isListening: false, metrics: [] };
    this.#members.add(member);
    say(worker, { fromParent: { inForce: this.#inForce(), databaseId: this.#databaseId } });
    worker.once('listening', () => {
      member.isListening = true;
    });
    worker.on('message', ({ cannotStart: why }: { cannotStart?: string }) => {
      if (why !== undefined && this.#hasStarted) this.#logger.error({ why }, 'cluster.not_started');
    });
    worker.once('exit', (code, signal) => void this.#replace(member, { code, signal }));
    // A process that could not be forked never exits.
    worker.on('error', (err) => {
      if (worker.process.pid === undefined) void this.#replace(member, { err });
    });
    return worker;
  }

  async #replace(member: Member, how: object): Promise<void> {
    this.#members.delete(member);
    if (this.#stopping || !this.#hasStarted) return;
    this.#logger.error({ pid: member.worker.process.pid, ...how }, 'cluster.worker_died');
    setTimeout(() => {
      if (!this.#stopping) this.#fork();
    }, RESTART_MS);
    const counted = member.metrics.filter(({ type }) => String(type) !== 'gauge');
    const ended = AggregatorRegistry.aggregate([this.#ended, counted]);
    this.#ended = await ended.getMetricsAsJSON();
  }
}

/** @throws GatewayError `CANNOT_START` when it ends before it listens, with the reason that it gave */
async function listening(worker: Worker): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (why: string) => reject(new GatewayError('CANNOT_START', why));
  worker.on('message', ({ cannotStart }: { cannotStart?: string }) => {
    if (cannotStart !== undefined) fail(cannotStart);
  });
  worker.once('listening', resolve);
  worker.once('exit', () => fail('an HTTP worker process ended before it listened'));
  worker.once('error', ({ message }) =>
    fail(`an HTTP worker process could not be started: ${message}`),
  );
  await promise;
}
