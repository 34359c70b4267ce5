import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { InForce } from '../config/in-force.ts';
import type { Problem } from '../config/problems.ts';
import { systemClock } from '../domain/clock.ts';
import { GatewayError } from '../domain/errors.ts';
import { isFromGivenServer } from '../http/given-server.ts';
import type { Family } from '../telemetry/exposition.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { countedBy, type Snapshot, snapshotOf, Together } from '../telemetry/snapshot.ts';
import { type BreakersTogether, isFinding, type Tell } from './breakers-together.ts';
import { PublicPort } from './public-port.ts';
import {
  ALIVE,
  ASK_PARENT,
  ask,
  isCannotStartMessage,
  isDescriptorsMessage,
  type KnownAtParent,
} from './worker-talk.ts';

/** A scrape waits no longer than this for a worker process that is busy or gone. */
const COLLECT_MS = 4_000;
/** A worker process that died is replaced after this delay: the next may die at once as well. */
const RESTART_MS = 1_000;
/**
 * A worker process drains for at most 10 s (docs/contract.md, Commands); one that hangs is killed this long
 * after SIGTERM: a supervisor gives the whole gateway no longer (docs/operations.md, Upgrades without downtime).
 */
const STOP_MS = 12_000;

/** How long a reload waits for each worker process to reload too. */
const RELOAD_MS = 4_000;
/** How often worker processes are checked; how long a silent one still counts as working; when it is killed. */
const LOOK_MS = 1_000;
const SILENT_MS = 5_000;
const HANGS_MS = 30_000;
/**
 * A worker process that has not reported yet is still loading, which takes longer the less processor time it gets and
 * the more of them start at once. As long as the chart's startup probe waits.
 */
const BEGINS_MS = 120_000;

/** The key of the metrics of worker processes that have ended. */
const ENDED = {};

/** A worker process, and what its parent knows about it. */
interface Member {
  readonly worker: Worker;
  /** When it last reported that it works, or was forked, on the monotonic clock. */
  aliveMs: number;
  /** True from its first report on. */
  hasBegun: boolean;
  /** Its last metrics: if a late process were left out, counters would seem to fall. */
  snapshot: Snapshot | undefined;
  /** False while it reports that it is at its limit of open files. */
  hasDescriptors: boolean;
  isListening: boolean;
  /** Resolves when it listens. */
  readonly listens: PromiseWithResolvers<void>;
  /** Why it could not start, in its own words. */
  reason: string | undefined;
}

/** The HTTP worker processes that share the public port (`WORKERS`). */
export class HttpWorkers {
  readonly #logger: Logger;
  readonly #members = new Set<Member>();
  readonly #together = new Together();
  /** Totals of the processes that have ended: a total that falls looks like many new events. */
  #counted: Snapshot = [];
  readonly #breakers: BreakersTogether;
  readonly #inForce: () => InForce;
  #databaseId = '';
  readonly #port: PublicPort;
  #lookedMs = systemClock.monotonicMs();
  #looking: NodeJS.Timeout | undefined;
  /** Until every worker process listens, the end of one fails the start: it is neither logged nor replaced. */
  #hasStarted = false;
  #stopping = false;

  /**
   * @param inForce the configuration that replaces files that are broken when a worker process starts
   * @param at the address of the public port
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
   * @param databaseId told to every worker process, so that one can also start while PostgreSQL is away
   * @throws GatewayError `CANNOT_START` when one ends before it listens, with the reason that it gave
   */
  async start(count: number, databaseId: string): Promise<void> {
    this.#databaseId = databaseId;
    // Sends numbers unchanged: JSON has no NaN, and is slow with a hundred thousand of them.
    cluster.setupPrimary({ serialization: 'advanced' });
    this.#looking = setInterval(() => this.#lookAfter(), LOOK_MS).unref();
    await Promise.all(Array.from({ length: count }, () => this.#untilListening(this.#fork())));
    this.#hasStarted = true;
  }

  /** This process's metrics and all workers', summed. */
  async families(own: Metrics): Promise<readonly Family[]> {
    await Promise.all([...this.#members].map((member) => this.#collectFrom(member)));
    const snapshots = new Map<object, Snapshot>([
      [own, await snapshotOf(await own.families())],
      [ENDED, this.#counted],
    ]);
    for (const { worker, snapshot } of this.#members) {
      if (snapshot !== undefined) snapshots.set(worker, snapshot);
    }
    return this.#together.families(snapshots);
  }

  /**
   * Whether every worker process can still open a file or connection, as of a second ago: one that
   * cannot loses the callers that it is given.
   */
  haveDescriptors(): boolean {
    return [...this.#members].every((member) => member.hasDescriptors);
  }

  /** Whether any worker process listens and works: without one, nobody takes callbacks. */
  takeCallbacks(): boolean {
    return [...this.#members].some((one) => one.isListening && silentMs(one) < SILENT_MS);
  }

  /**
   * Makes every worker process reload the configuration.
   * @returns the problems; a process that did not confirm in time is one
   */
  async reload(): Promise<readonly Problem[]> {
    const reloads = [...this.#members].map(async ({ worker }) => {
      const problems = await ask(worker, 'reload', RELOAD_MS);
      // Its replacement starts with the current files.
      if (problems === 'ended') return [];
      return problems === 'late' ? [notReloaded(worker)] : problems;
    });
    return (await Promise.all(reloads)).flat();
  }

  /** Asks every worker process to drain and waits until they are gone; kills those that hang. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#looking);
    const killAtMs = systemClock.monotonicMs() + STOP_MS;
    await this.#port.close();
    await Promise.all([...this.#members].map(({ worker }) => this.#stop(worker, killAtMs)));
  }

  async #stop(worker: Worker, killAtMs: number): Promise<void> {
    const exited = once(worker, 'exit');
    worker.process.kill('SIGTERM');
    const impatience = setTimeout(() => {
      this.#logger.error({ pid: worker.process.pid, note: 'it is killed' }, 'cluster.worker_hangs');
      worker.process.kill('SIGKILL');
    }, killAtMs - systemClock.monotonicMs());
    await exited;
    clearTimeout(impatience);
  }

  async #collectFrom(member: Member): Promise<void> {
    // The console waits for this too: a process that hangs is not asked each time, and its last metrics are shown.
    if (silentMs(member) >= SILENT_MS) return;
    // A process that is late, or ends meanwhile, sends none.
    const snapshot = await ask(member.worker, 'metrics', COLLECT_MS);
    if (typeof snapshot !== 'string') member.snapshot = snapshot;
  }

  #fork(): Member {
    const worker = cluster.fork();
    const member: Member = {
      worker,
      aliveMs: systemClock.monotonicMs(),
      hasBegun: false,
      snapshot: undefined,
      hasDescriptors: true,
      isListening: false,
      listens: Promise.withResolvers(),
      reason: undefined,
    };
    this.#members.add(member);
    // The pipe breaks a moment before the exit is known.
    const tell: Tell = (breakerNews) => worker.send({ breakerNews }, () => undefined);
    const onTaking = () => {
      member.isListening = true;
      this.#breakers.join(tell);
      member.listens.resolve();
    };
    worker.on('message', (message: unknown) => {
      if (message === ALIVE) heardOf(member);
      if (message === ASK_PARENT) worker.send(this.#knownHere(), () => undefined);
      if (isFinding(message)) this.#breakers.found(tell, message.breakerFinding);
      if (isFromGivenServer(message)) void this.#port.heard(worker, message, onTaking);
      if (isCannotStartMessage(message)) member.reason = message.cannotStart;
      if (isDescriptorsMessage(message)) member.hasDescriptors = message.hasDescriptors;
    });
    worker.once('exit', (code, signal) => {
      this.#forget(member);
      this.#breakers.leave(tell);
      if (this.#stopping || !this.#hasStarted) return;
      const { snapshot, reason: why } = member;
      if (snapshot !== undefined) this.#counted = countedBy(this.#counted, snapshot);
      this.#logger.error({ pid: worker.process.pid, code, signal, why }, 'cluster.worker_died');
      this.#forkLater();
    });
    // A process that could not be forked, for lack of memory, processes or open files, never exits.
    worker.on('error', (err) => {
      if (worker.process.pid !== undefined) {
        this.#logger.warn({ pid: worker.process.pid, err }, 'cluster.worker_unreachable');
        return;
      }
      this.#forget(member);
      if (this.#stopping || !this.#hasStarted) return;
      this.#logger.error({ err, note: 'it is tried again' }, 'cluster.worker_not_started');
      this.#forkLater();
    });
    return member;
  }

  #forget(member: Member): void {
    this.#members.delete(member);
    this.#port.ended(member.worker);
  }

  #forkLater(): void {
    setTimeout(() => {
      if (!this.#stopping) this.#fork();
    }, RESTART_MS);
  }

  /** Kills processes that hang: a caller given to one waits in vain. */
  #lookAfter(): void {
    const nowMs = systemClock.monotonicMs();
    const stoodStill = nowMs - this.#lookedMs > 2 * LOOK_MS;
    this.#lookedMs = nowMs;
    for (const member of this.#members) {
      // Perhaps the whole machine stood still; what they have reported meanwhile is still unread.
      if (stoodStill) member.aliveMs = nowMs;
      if (silentMs(member) < (member.hasBegun ? HANGS_MS : BEGINS_MS)) continue;
      const { worker } = member;
      this.#logger.error({ pid: worker.process.pid, note: 'it is killed' }, 'cluster.worker_hangs');
      worker.process.kill('SIGKILL');
    }
  }

  #knownHere(): KnownAtParent {
    return { inForce: this.#inForce(), databaseId: this.#databaseId };
  }

  async #untilListening(member: Member): Promise<void> {
    const { worker, listens } = member;
    const { promise, reject } = listens;
    worker.once('exit', (code, signal) => {
      const ended = `an HTTP worker process ended before it listened (${signal ?? `exit code ${code}`})`;
      const why = member.reason ?? ended;
      reject(new GatewayError('CANNOT_START', why));
    });
    worker.once('error', (cause) => {
      const why = `an HTTP worker process could not be started: ${cause.message}`;
      reject(new GatewayError('CANNOT_START', why, { cause }));
    });
    await promise;
  }
}

function heardOf(member: Member): void {
  member.aliveMs = systemClock.monotonicMs();
  member.hasBegun = true;
}

function silentMs({ aliveMs }: Member): number {
  return systemClock.monotonicMs() - aliveMs;
}

function notReloaded(worker: Worker): Problem {
  const reason = `has not read the files within ${RELOAD_MS} ms: it may go on with what it had; one that hangs is replaced`;
  return { file: `worker process ${worker.process.pid}`, path: '', reason };
}
