import cluster from 'node:cluster';
import type { InForce } from '../config/in-force.ts';
import type { Problem } from '../config/problems.ts';
import { systemClock } from '../domain/clock.ts';
import { isFromGivenServer } from '../http/given-server.ts';
import type { Family } from '../telemetry/exposition.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { countedBy, type Snapshot, snapshotOf, Together } from '../telemetry/snapshot.ts';
import { PublicPort } from './public-port.ts';
import { WorkerMember } from './worker-member.ts';
import { ASK_PARENT, type KnownAtParent } from './worker-talk.ts';

/** A worker process that died is replaced after this delay: the next may die at once as well. */
const RESTART_MS = 1_000;
/**
 * A worker process drains for at most 10 s (docs/contract.md, Commands); one that hangs is killed this long
 * after SIGTERM: a supervisor gives the whole gateway no longer (docs/operations.md, Upgrades without downtime).
 */
const STOP_MS = 12_000;

/** How often worker processes are checked. */
const LOOK_MS = 1_000;

/** The key of the metrics of worker processes that have ended. */
const ENDED = {};

/** The HTTP worker processes that share the public port (`WORKERS`). */
export class HttpWorkers {
  readonly #logger: Logger;
  readonly #members = new Set<WorkerMember>();
  readonly #together = new Together();
  /** Totals of the processes that have ended: a total that falls looks like many new events. */
  #counted: Snapshot = [];
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
    inForce: () => InForce,
    at: { readonly host: string; readonly port: number },
  ) {
    this.#logger = logger;
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
    await Promise.all(Array.from({ length: count }, () => this.#fork().untilListening()));
    this.#hasStarted = true;
  }

  /** This process's metrics and all workers', summed. */
  async families(own: Metrics): Promise<readonly Family[]> {
    await Promise.all([...this.#members].map((member) => member.collect()));
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
    return [...this.#members].some((member) => member.takesCallbacks);
  }

  /**
   * Makes every worker process reload the configuration.
   * @returns the problems; a process that did not confirm in time is one
   */
  async reload(): Promise<readonly Problem[]> {
    const reloads = [...this.#members].map((member) => member.reload());
    return (await Promise.all(reloads)).flat();
  }

  /** Asks every worker process to drain and waits until they are gone; kills those that hang. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#looking);
    const killAtMs = systemClock.monotonicMs() + STOP_MS;
    await this.#port.close();
    await Promise.all([...this.#members].map((member) => member.stop(killAtMs)));
  }

  #fork(): WorkerMember {
    const worker = cluster.fork();
    const member = new WorkerMember(worker, this.#logger);
    this.#members.add(member);
    const onTaking = () => member.noteListening();
    worker.on('message', (message: unknown) => {
      if (message === ASK_PARENT) worker.send(this.#knownHere(), () => undefined);
      if (isFromGivenServer(message)) void this.#port.heard(worker, message, onTaking);
    });
    worker.once('exit', (code, signal) => {
      this.#forget(member);
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

  #forget(member: WorkerMember): void {
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
      if (stoodStill) member.forgiveSilence();
      if (member.hangs) member.kill();
    }
  }

  #knownHere(): KnownAtParent {
    return { inForce: this.#inForce(), databaseId: this.#databaseId };
  }
}
