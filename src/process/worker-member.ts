import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Problem } from '../config/problems.ts';
import { systemClock } from '../domain/clock.ts';
import { GatewayError } from '../domain/errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Snapshot } from '../telemetry/snapshot.ts';
import { ALIVE, ask, isCannotStartMessage, isDescriptorsMessage } from './worker-talk.ts';

/** A scrape waits no longer than this for a worker process that is busy or gone. */
const COLLECT_MS = 4_000;
/** How long a reload waits for each worker process to reload too. */
const RELOAD_MS = 4_000;
/** How long a silent worker process still counts as working; when it is killed. */
const SILENT_MS = 5_000;
const HANGS_MS = 30_000;
/**
 * A worker process that has not reported yet is still loading, which takes longer the less processor time it gets and
 * the more of them start at once. As long as the chart's startup probe waits.
 */
const BEGINS_MS = 120_000;

/** A worker process, and what its parent knows about it. */
export class WorkerMember {
  readonly worker: Worker;
  readonly #logger: Logger;
  /** When it last reported that it works, or was forked, on the monotonic clock. */
  #aliveMs = systemClock.monotonicMs();
  /** True from its first report on. */
  #hasBegun = false;
  #isListening = false;
  #hasDescriptors = true;
  #snapshot: Snapshot | undefined;
  #reason: string | undefined;
  /** Resolves when it listens. */
  readonly #listens = Promise.withResolvers<void>();

  constructor(worker: Worker, logger: Logger) {
    this.worker = worker;
    this.#logger = logger;
    worker.on('message', (message: unknown) => this.#hear(message));
  }

  #hear(message: unknown): void {
    if (message === ALIVE) {
      this.#aliveMs = systemClock.monotonicMs();
      this.#hasBegun = true;
    }
    if (isCannotStartMessage(message)) this.#reason = message.cannotStart;
    if (isDescriptorsMessage(message)) this.#hasDescriptors = message.hasDescriptors;
  }

  /** False while it reports that it is at its limit of open files. */
  get hasDescriptors(): boolean {
    return this.#hasDescriptors;
  }

  /** Its last metrics: if a late process were left out, counters would seem to fall. */
  get snapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  /** Why it could not start, in its own words. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Whether it listens and works. */
  get takesCallbacks(): boolean {
    return this.#isListening && this.#silentMs < SILENT_MS;
  }

  /** Whether it has been silent for so long that it will not come back. */
  get hangs(): boolean {
    return this.#silentMs >= (this.#hasBegun ? HANGS_MS : BEGINS_MS);
  }

  get #silentMs(): number {
    return systemClock.monotonicMs() - this.#aliveMs;
  }

  /** Its silence counts from now on: while nobody read what it reported, it says nothing. */
  forgiveSilence(): void {
    this.#aliveMs = systemClock.monotonicMs();
  }

  noteListening(): void {
    this.#isListening = true;
    this.#listens.resolve();
  }

  /** @throws GatewayError `CANNOT_START` when it ends before it listens, with the reason that it gave */
  async untilListening(): Promise<void> {
    const { promise, reject } = this.#listens;
    this.worker.once('exit', (code, signal) => {
      const ended = `an HTTP worker process ended before it listened (${signal ?? `exit code ${code}`})`;
      reject(new GatewayError('CANNOT_START', this.#reason ?? ended));
    });
    this.worker.once('error', (cause) => {
      const why = `an HTTP worker process could not be started: ${cause.message}`;
      reject(new GatewayError('CANNOT_START', why, { cause }));
    });
    await promise;
  }

  /** Brings `snapshot` up to date, if the process answers in time. */
  async collect(): Promise<void> {
    // The console waits for this too: a process that hangs is not asked each time, and its last metrics are shown.
    if (this.#silentMs >= SILENT_MS) return;
    // A process that is late, or ends meanwhile, sends none.
    const snapshot = await ask(this.worker, 'metrics', COLLECT_MS);
    if (typeof snapshot !== 'string') this.#snapshot = snapshot;
  }

  /**
   * Makes it reload the configuration.
   * @returns the problems; that it did not confirm in time is one
   */
  async reload(): Promise<readonly Problem[]> {
    const problems = await ask(this.worker, 'reload', RELOAD_MS);
    // Its replacement starts with the current files.
    if (problems === 'ended') return [];
    return problems === 'late' ? [notReloaded(this.worker)] : problems;
  }

  /**
   * Asks it to drain, and waits until it is gone.
   * @param killAtMs when it is killed if it hangs, on the monotonic clock
   */
  async stop(killAtMs: number): Promise<void> {
    const exited = once(this.worker, 'exit');
    this.worker.process.kill('SIGTERM');
    const impatience = setTimeout(() => this.kill(), killAtMs - systemClock.monotonicMs());
    await exited;
    clearTimeout(impatience);
  }

  /** Kills a process that hangs. */
  kill(): void {
    const { pid } = this.worker.process;
    this.#logger.error({ pid, note: 'it is killed' }, 'cluster.worker_hangs');
    this.worker.process.kill('SIGKILL');
  }
}

function notReloaded(worker: Worker): Problem {
  const reason = `has not read the files within ${RELOAD_MS} ms: it may go on with what it had; one that hangs is replaced`;
  return { file: `worker process ${worker.process.pid}`, path: '', reason };
}
