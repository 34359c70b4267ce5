import cluster, { type Worker } from 'node:cluster';
import { on, once } from 'node:events';
import { type BreakersTogether, isFinding, type Tell } from './breakers-together.ts';
import { freezeDeep } from './config/freeze.ts';
import type { InForce } from './config/in-force.ts';
import { GatewayError } from './domain/errors.ts';
import { hasDescriptors } from './http/descriptors.ts';
import { isFromGivenServer } from './http/given-server.ts';
import { OutOfTime, within } from './lib/within.ts';
import { PublicPort } from './public-port.ts';
import type { Family } from './telemetry/exposition.ts';
import type { Logger } from './telemetry/logger.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { countedBy, type Snapshot, snapshotOf, Together } from './telemetry/snapshot.ts';

/** A scrape does not wait longer for a worker process that is busy or gone. */
const COLLECT_MS = 4_000;
/** A worker process that dies at once is not started again at once. */
const RESTART_MS = 1_000;
/**
 * A worker process drains for at most 10 s (docs/contract.md, Commands); one that hangs is not
 * waited for.
 */
const STOP_MS = 12_000;

/** How often a worker process looks whether it can still open a file. */
const DESCRIPTORS_MS = 1_000;

/** A worker process asks its parent what is in force, and on which database. */
const ASK_PARENT = 'inForce';

interface KnownAtParent {
  readonly inForce: InForce;
  readonly databaseId: string;
}

/** Stands for the worker processes that have ended. */
const ENDED = {};

/** The HTTP worker processes that share the public port (`WORKERS`). */
export class HttpWorkers {
  readonly #logger: Logger;
  readonly #workers = new Set<Worker>();
  readonly #together = new Together();
  /** What each told last: without one that is late, counters would seem to fall. */
  readonly #snapshots = new WeakMap<Worker, Snapshot>();
  /** Those at their limit of open files, as they said themselves. */
  readonly #exhausted = new Set<Worker>();
  /** Why one that ends could not start, in its own words. */
  readonly #reasons = new WeakMap<Worker, string>();
  /** What those that ended had counted: a total that falls looks like many new events. */
  #counted: Snapshot = [];
  readonly #breakers: BreakersTogether;
  readonly #inForce: () => InForce;
  #databaseId = '';
  readonly #port: PublicPort;
  readonly #listening = new Set<Worker>();
  readonly #onTaking = new WeakMap<Worker, () => void>();
  /** Until every worker process listens, one that ends ends the start: nothing is logged or begun anew. */
  #hasStarted = false;
  #stopping = false;

  /**
   * @param inForce what stands in for files that are broken when a worker process begins
   * @param at where the public port is to be
   */
  constructor(
    logger: Logger,
    breakers: BreakersTogether,
    inForce: () => InForce,
    at: { readonly host: string; readonly port: number },
  ) {
    this.#logger = logger;
    this.#breakers = breakers;
    this.#inForce = inForce;
    this.#port = new PublicPort(at, logger);
  }

  /**
   * Resolves when every worker process listens.
   * @param databaseId for those that begin while PostgreSQL is away, too
   * @throws GatewayError `CANNOT_START` when one ends before it does, with what that one says of it
   */
  async start(count: number, databaseId: string): Promise<void> {
    this.#databaseId = databaseId;
    // Numbers travel as they are: JSON has no NaN, and is slow with a hundred thousand of them.
    cluster.setupPrimary({ serialization: 'advanced' });
    await Promise.all(Array.from({ length: count }, () => this.#untilListening(this.#fork())));
    this.#hasStarted = true;
  }

  /** This process's metrics and all workers', summed. */
  async families(own: Metrics): Promise<readonly Family[]> {
    await Promise.all([...this.#workers].map((worker) => this.#collectFrom(worker)));
    const snapshots = new Map<object, Snapshot>([
      [own, await snapshotOf(await own.families())],
      [ENDED, this.#counted],
    ]);
    for (const worker of this.#workers) {
      const snapshot = this.#snapshots.get(worker);
      if (snapshot !== undefined) snapshots.set(worker, snapshot);
    }
    return this.#together.families(snapshots);
  }

  /**
   * Whether every worker process can still open a file or connection, as of a second ago: one that
   * cannot loses the callers that it is given.
   */
  haveDescriptors(): boolean {
    return this.#exhausted.size === 0;
  }

  /** Whether any worker process listens: without one, nobody takes callbacks. */
  takeCallbacks(): boolean {
    return this.#listening.size > 0;
  }

  /** Asks every worker process to drain and waits until they are gone; kills those that hang. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#port.close();
    await Promise.all([...this.#workers].map((worker) => this.#stop(worker)));
  }

  async #stop(worker: Worker): Promise<void> {
    const exited = once(worker, 'exit');
    worker.process.kill('SIGTERM');
    const impatience = setTimeout(() => {
      this.#logger.error({ pid: worker.process.pid, note: 'it is killed' }, 'cluster.worker_hangs');
      worker.process.kill('SIGKILL');
    }, STOP_MS);
    await exited;
    clearTimeout(impatience);
  }

  async #collectFrom(worker: Worker): Promise<void> {
    const snapshot = await collectFrom(worker);
    if (snapshot !== undefined) this.#snapshots.set(worker, snapshot);
  }

  #keepCounters(worker: Worker): void {
    const last = this.#snapshots.get(worker);
    if (last !== undefined) this.#counted = countedBy(this.#counted, last);
  }

  #fork(): Worker {
    const worker = cluster.fork();
    this.#workers.add(worker);
    // The pipe breaks a moment before the exit is known.
    const tell: Tell = (breakerNews) => worker.send({ breakerNews }, () => undefined);
    const onTaking = () => {
      this.#listening.add(worker);
      this.#breakers.join(tell);
      this.#onTaking.get(worker)?.();
    };
    worker.on('message', (message: unknown) => {
      if (message === ASK_PARENT) worker.send(this.#knownHere(), () => undefined);
      if (isFinding(message)) this.#breakers.found(tell, message.breakerFinding);
      if (isFromGivenServer(message)) void this.#port.heard(worker, message, onTaking);
      if (isCannotStartMessage(message)) this.#reasons.set(worker, message.cannotStart);
      if (!isDescriptorsMessage(message)) return;
      if (message.hasDescriptors) this.#exhausted.delete(worker);
      else this.#exhausted.add(worker);
    });
    worker.once('exit', (code, signal) => {
      this.#workers.delete(worker);
      this.#listening.delete(worker);
      this.#port.left(worker);
      this.#exhausted.delete(worker);
      this.#breakers.leave(tell);
      if (this.#stopping || !this.#hasStarted) return;
      this.#keepCounters(worker);
      const why = this.#reasons.get(worker);
      this.#logger.error({ pid: worker.process.pid, code, signal, why }, 'cluster.worker_died');
      setTimeout(() => {
        if (!this.#stopping) this.#fork();
      }, RESTART_MS);
    });
    return worker;
  }

  #knownHere(): KnownAtParent {
    return { inForce: this.#inForce(), databaseId: this.#databaseId };
  }

  async #untilListening(worker: Worker): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#onTaking.set(worker, resolve);
    worker.once('exit', (code, signal) => {
      const ended = `an HTTP worker process ended before it listened (${signal ?? `exit code ${code}`})`;
      const why = this.#reasons.get(worker) ?? ended;
      reject(new GatewayError('CANNOT_START', why));
    });
    await promise;
  }
}

/** In a worker process: what is in force at its parent, which outlives files that are broken by now, and its database. */
export async function knownAtParent(): Promise<KnownAtParent> {
  const { promise, resolve } = Promise.withResolvers<KnownAtParent>();
  const hear = (message: unknown) => {
    if (isKnownMessage(message)) resolve(freezeDeep(message));
  };
  process.on('message', hear);
  process.send?.(ASK_PARENT);
  try {
    return await promise;
  } finally {
    process.off('message', hear);
  }
}

/** In a worker process: says why it cannot start. Its parent repeats it, once for all that cannot. */
export async function tellWhyNotStarted(why: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // Where the parent has gone, it has said so itself.
  process.send?.({ cannotStart: why }, undefined, undefined, () => resolve());
  await promise;
}

/**
 * In a worker process: its parent may go while something is being sent to it. Node ends the process
 * when it notices; what could not be sent is no crash of its own.
 */
export function endWithParent(): void {
  cluster.worker?.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_IPC_CHANNEL_CLOSED') throw error;
  });
}

/** In a worker process: answers the parent's question for metrics. */
export function answerForMetrics(metrics: Metrics): void {
  process.on('message', (message: unknown) => {
    if (message !== 'metrics') return;
    void metrics
      .families()
      .then(snapshotOf)
      .then((snapshot) => process.send?.({ metrics: snapshot }));
  });
}

/** In a worker process: tells the parent, which answers for its readiness, when it can open no file. */
export function tellOfDescriptors(): void {
  let told = true;
  const look = async () => {
    const has = await hasDescriptors();
    if (has === told) return;
    told = has;
    process.send?.({ hasDescriptors: has });
  };
  setInterval(() => void look(), DESCRIPTORS_MS).unref();
}

/** Nothing from a worker process that is late, or that ends meanwhile. */
async function collectFrom(worker: Worker): Promise<Snapshot | undefined> {
  const given = new AbortController();
  const { signal } = given;
  const answer = metricsOf(worker, signal);
  const ended = once(worker, 'exit', { signal }).then(() => undefined);
  // What comes too late, or of the one that lost, is nobody's concern.
  for (const either of [answer, ended]) either.catch(() => undefined);
  // The pipe breaks a moment before the exit is known.
  worker.send('metrics', () => undefined);
  try {
    return await within(COLLECT_MS, Promise.race([answer, ended]));
  } catch (error) {
    if (error instanceof OutOfTime) return undefined;
    throw error;
  } finally {
    given.abort();
  }
}

/** The next metrics that it sends; it may speak of other things before. */
async function metricsOf(worker: Worker, signal: AbortSignal): Promise<Snapshot | undefined> {
  for await (const [message] of on(worker, 'message', { signal })) {
    if (isMetricsMessage(message)) return message.metrics;
  }
  return undefined;
}

function isDescriptorsMessage(message: unknown): message is { hasDescriptors: boolean } {
  return typeof message === 'object' && message !== null && 'hasDescriptors' in message;
}

function isCannotStartMessage(message: unknown): message is { cannotStart: string } {
  return typeof message === 'object' && message !== null && 'cannotStart' in message;
}

function isKnownMessage(message: unknown): message is KnownAtParent {
  return typeof message === 'object' && message !== null && 'inForce' in message;
}

function isMetricsMessage(message: unknown): message is { metrics: Snapshot } {
  return typeof message === 'object' && message !== null && 'metrics' in message;
}
