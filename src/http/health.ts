import type { Clock } from '../domain/clock.ts';
import { within } from '../lib/within.ts';

/** A probe is answered within 1 s; a dependency that takes longer than this counts as down. */
const CHECK_TIMEOUT_MS = 700;
/** Probes closer together than this share an answer, so that they do not pile up. */
const FRESH_MS = 500;

/** `read_only`: it answers but takes no writes, like a standby; useless to a callback that moves money. */
export type DependencyState = 'up' | 'down' | 'read_only';

export type ReadinessStatus =
  | 'ready'
  /** Works without Redis, on PostgreSQL alone. */
  | 'degraded'
  /** PostgreSQL is down or read-only, or no process takes callbacks. */
  | 'unavailable'
  | 'draining'
  | 'starting';

export interface ReadinessReport {
  readonly status: ReadinessStatus;
  readonly dependencies: {
    readonly postgresql: DependencyState;
    readonly redis: DependencyState;
  };
  /** Present if files of the configuration are invalid: the last valid versions are in force, where there are any. */
  readonly invalidFiles?: readonly string[];
  /** Present if none of the worker processes that take callbacks listens (`WORKERS`). */
  readonly workerProcesses?: 'gone';
}

export interface ReadinessOptions {
  readonly clock: Clock;
  /** Each resolves to whether its server answers; a rejection means that it does not. */
  readonly checks: {
    readonly postgresql: () => Promise<boolean | 'read_only'>;
    readonly redis: () => Promise<boolean>;
  };
  /** The configuration's invalid files; default: there are none. */
  readonly invalidFiles?: () => readonly string[];
  /** Whether any process behind this one listens; default: this one does itself. */
  readonly takesCallbacks?: () => boolean;
  /** How long a check may take; default 700. */
  readonly timeoutMs?: number;
}

/** Whether this process should be sent requests. */
export class Readiness {
  readonly #postgresql: Probe;
  readonly #redis: Probe;
  readonly #takesCallbacks: () => boolean;
  readonly #invalidFiles: () => readonly string[];
  #phase: 'starting' | 'serving' | 'draining' = 'starting';

  constructor(options: ReadinessOptions) {
    const { clock, checks, timeoutMs = CHECK_TIMEOUT_MS } = options;
    this.#takesCallbacks = options.takesCallbacks ?? (() => true);
    this.#invalidFiles = options.invalidFiles ?? (() => []);
    this.#postgresql = new Probe(clock, checks.postgresql, timeoutMs);
    this.#redis = new Probe(clock, checks.redis, timeoutMs);
  }

  /** The listeners are open. */
  started(): void {
    if (this.#phase !== 'starting') return;
    this.#phase = 'serving';
    // The start has waited for both servers since: what a probe found before that is out of date.
    this.#postgresql.forget();
    this.#redis.forget();
  }

  /** The process is shutting down; this cannot be undone. */
  draining(): void {
    this.#phase = 'draining';
  }

  /** Never rejects, and takes no longer than a check may. */
  async report(): Promise<ReadinessReport> {
    const wasStarting = this.#phase === 'starting';
    const [postgresql, redis] = await Promise.all([this.#postgresql.ask(), this.#redis.ask()]);
    const dependencies = { postgresql, redis };
    // Asked, and partly answered, before the start was over.
    if (wasStarting && this.#phase === 'serving') return { status: 'starting', dependencies };
    const isServing = this.#phase === 'serving';
    const invalidFiles = this.#invalidFiles();
    const isDeaf = isServing && !this.#takesCallbacks();
    return {
      status: isDeaf ? 'unavailable' : this.#status(dependencies),
      dependencies,
      ...(invalidFiles.length > 0 && { invalidFiles }),
      ...(isDeaf && { workerProcesses: 'gone' }),
    };
  }

  #status({ postgresql, redis }: ReadinessReport['dependencies']): ReadinessStatus {
    if (this.#phase !== 'serving') return this.#phase;
    if (postgresql !== 'up') return 'unavailable';
    return redis === 'down' ? 'degraded' : 'ready';
  }
}

/** The HTTP status of `GET /health/ready`. */
export function httpStatusOf({ status }: ReadinessReport): 200 | 503 {
  return status === 'ready' || status === 'degraded' ? 200 : 503;
}

type Check = () => Promise<boolean | 'read_only'>;

/** Checks one dependency, at most one check at a time, however many callers wait. */
class Probe {
  readonly #clock: Clock;
  readonly #check: Check;
  readonly #timeoutMs: number;
  #running: ReturnType<Check> | undefined;
  #last: { readonly state: DependencyState; readonly atMs: number } | undefined;
  #forgotten = 0;

  constructor(clock: Clock, check: Check, timeoutMs: number) {
    this.#clock = clock;
    this.#check = check;
    this.#timeoutMs = timeoutMs;
  }

  async ask(): Promise<DependencyState> {
    const last = this.#last;
    const forgotten = this.#forgotten;
    if (last !== undefined && this.#clock.monotonicMs() - last.atMs < FRESH_MS) return last.state;
    // A hanging check is not started again: callers wait for the same one, and time out.
    const state = await within(this.#timeoutMs, this.#running ?? this.#begin()).then(
      (found) => (found === true ? 'up' : found || 'down'),
      () => 'down' as const,
    );
    if (forgotten === this.#forgotten) this.#last = { state, atMs: this.#clock.monotonicMs() };
    return state;
  }

  /** From now on only checks that begin later count. */
  forget(): void {
    this.#last = undefined;
    this.#running = undefined;
    this.#forgotten += 1;
  }

  #begin(): ReturnType<Check> {
    const running = this.#run().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #run(): ReturnType<Check> {
    try {
      return await this.#check();
    } catch {
      // Whoever uses the server logs the reason; a probe only needs to know whether it answers.
      return false;
    }
  }
}
