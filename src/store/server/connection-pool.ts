import type { ClientConfig } from 'pg';
import type { Plans } from '../sql/plans.ts';
import { PooledConnection } from './pooled-connection.ts';

/** The longest that a caller waits for a connection. */
const WAIT_MS_MAX = 4_000;
/** Callers of one kind that wait beyond this are refused at once: they could only time out. */
const WAITING_MAX = 5_000;
/** After this long an opening counts as withheld, and callers take connections of other pools meanwhile. */
const WITHHELD_AFTER_MS = 100;
/** Pauses after a failed opening, with and without another connection: each try costs a full server a process. */
const PAUSE_MS = 1_000;
/** How long a caller waits while the server refuses the first connection: an earlier one may not have ended there yet. */
const REFUSED_MS = 300;
const FIRST_PAUSE_MS = 100;
/** How long a connection beyond the first of its pool is kept without use. */
const IDLE_MS = 30_000;

interface Waiter {
  readonly sinceMs: number;
  readonly resolve: (connection: PooledConnection) => void;
  readonly reject: (error: Error) => void;
}

/** The pools of a process, as one of them knows the others. */
interface Sharing {
  /** How many connections all of them have, and how many further ones they are opening. */
  readonly openCount: number;
  readonly openingCount: number;
  /** Gives free connections to those who wait. */
  serve(): void;
  takeBack(connection: PooledConnection): void;
  isDoubtful(connection: PooledConnection): boolean;
  readonly onWithheld: (error: Error) => void;
}

/** A kind of statements that never uses more than its own number of connections (I7). */
export class ConnectionQuota {
  readonly pool: ConnectionPool;
  readonly max: number;
  readonly isUrgent: boolean;
  readonly waiting = new Set<Waiter>();
  busy = 0;

  constructor(pool: ConnectionPool, max: number, isUrgent: boolean) {
    this.pool = pool;
    this.max = max;
    this.isUrgent = isUrgent;
  }

  get oldest(): Waiter | undefined {
    return this.waiting.values().next().value;
  }

  /** @throws Error if there is no connection within 4 s, or the server refuses the first one */
  async take(): Promise<PooledConnection> {
    if (this.pool.isClosed) throw new Error('the pool is closed');
    if (this.waiting.size >= WAITING_MAX)
      throw new Error('too many statements wait for PostgreSQL');
    const { promise, resolve, reject } = Promise.withResolvers<PooledConnection>();
    const waiter = { sinceMs: performance.now(), resolve, reject };
    this.waiting.add(waiter);
    this.pool.pools.serve();
    if (!this.waiting.has(waiter)) return await promise;
    const timer = setTimeout(() => {
      if (this.waiting.delete(waiter)) reject(this.#notInTime());
    }, WAIT_MS_MAX);
    return await promise.finally(() => clearTimeout(timer));
  }

  #notInTime(): Error {
    const seconds = WAIT_MS_MAX / 1_000;
    return this.busy >= this.max
      ? new Error(`all ${this.max} connections of this kind have been in use for ${seconds} s`)
      : new Error(`PostgreSQL gave no connection for ${seconds} s`);
  }

  /** Every connection that was taken comes back, also one that is broken. */
  giveBack(connection: PooledConnection): void {
    this.busy -= 1;
    this.pool.pools.takeBack(connection);
  }

  /** Called by the pools. */
  give(waiter: Waiter, connection: PooledConnection): void {
    this.waiting.delete(waiter);
    this.busy += 1;
    connection.givenAtMs = performance.now();
    waiter.resolve(connection);
  }

  /** Gives up those who have waited for so long. */
  reject(error: Error, waitedMs: number): void {
    const before = performance.now() - waitedMs;
    for (const waiter of this.waiting) {
      if (waiter.sinceMs > before) return;
      this.waiting.delete(waiter);
      waiter.reject(error);
    }
  }
}

export interface PoolOptions {
  readonly config: ClientConfig;
  readonly plans: Plans;
  readonly max: number;
  /** Called when an unused connection breaks; the pool replaces it. */
  readonly onIdleError: (error: Error) => void;
}

/** Connections with the same settings. Other pools of the process borrow them if the server gives no further one. */
export class ConnectionPool {
  readonly pools: Sharing;
  readonly #allQuotas: ConnectionQuota[];
  readonly #quotas: ConnectionQuota[] = [];
  readonly #options: PoolOptions;
  /** All that are open, used or not. */
  readonly #open = new Set<PooledConnection>();
  readonly #opening = new Set<PooledConnection>();
  /** The last used one is last. */
  #idle: PooledConnection[] = [];
  #pausedUntilMs = 0;
  /** Whether the server gives no further connection at present, or is slow to. */
  isWithheld = false;
  isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: NodeJS.Timeout | undefined;

  /** @param allQuotas of all pools; each new one is added */
  constructor(pools: Sharing, allQuotas: ConnectionQuota[], options: PoolOptions) {
    this.pools = pools;
    this.#allQuotas = allQuotas;
    this.#options = options;
  }

  /** @param isUrgent its statements may use the last connections */
  quota(max: number, isUrgent = true): ConnectionQuota {
    const quota = new ConnectionQuota(this, max, isUrgent);
    this.#quotas.push(quota);
    this.#allQuotas.push(quota);
    return quota;
  }

  get openCount(): number {
    return this.#open.size;
  }

  get openingCount(): number {
    return this.#opening.size;
  }

  get use() {
    const waiting = this.#quotas.reduce((sum, quota) => sum + quota.waiting.size, 0);
    const idle = this.#idle.length;
    return { inUse: this.#open.size - idle, idle, waiting, max: this.#options.max };
  }

  /** An unused connection on which the server has answered lately. */
  idle(): PooledConnection | undefined {
    for (let one = this.#idle.pop(); one !== undefined; one = this.#idle.pop()) {
      if (!this.pools.isDoubtful(one)) return one;
      void this.#probe(one);
    }
    return undefined;
  }

  /** Takes a connection back, or closes it. @returns false if it is of another pool */
  takeBack(connection: PooledConnection): boolean {
    if (!this.#open.has(connection)) return false;
    if (connection.isBroken || this.isClosed) void this.#drop(connection);
    else this.#idle.push(connection);
    return true;
  }

  /** Opens a connection for each waiting caller, as far as it may. */
  openFurther(): void {
    const wanted = this.#quotas.reduce(
      (sum, { waiting, max, busy }) => sum + Math.min(waiting.size, max - busy),
      0,
    );
    const pauseMs = this.#pausedUntilMs - performance.now();
    const { max } = this.#options;
    while (
      pauseMs <= 0 &&
      !this.isClosed &&
      this.#opening.size < Math.min(wanted, max - this.#open.size)
    ) {
      void this.#openOne();
    }
    if (wanted > 0 && pauseMs > 0) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.pools.serve();
      }, pauseMs);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#sweeping);
    this.#rejectAll(new Error('the pool is closed'));
    for (const one of this.#opening) one.destroy();
    const idle = this.#idle;
    this.#idle = [];
    await Promise.all(idle.map((one) => this.#drop(one)));
  }

  async #openOne(): Promise<void> {
    const { config, plans, onIdleError } = this.#options;
    let connection: PooledConnection | undefined;
    let failure: unknown;
    const timer = setTimeout(() => {
      this.isWithheld = true;
      this.pools.serve();
    }, WITHHELD_AFTER_MS);
    try {
      const opened = new PooledConnection(config, plans);
      connection = opened;
      this.#opening.add(opened);
      await opened.open((error) => {
        const at = this.#idle.indexOf(opened);
        // The user of one in use gets the error, and gives it back.
        if (at < 0) return;
        this.#idle.splice(at, 1);
        void this.#drop(opened);
        onIdleError(error);
      });
      this.isWithheld = false;
      this.#pausedUntilMs = 0;
      this.#open.add(opened);
      this.#sweeping ??= setInterval(() => this.#sweep(), IDLE_MS / 3).unref();
      this.takeBack(opened);
    } catch (error) {
      connection?.destroy();
      failure = error;
    }
    clearTimeout(timer);
    if (connection !== undefined) this.#opening.delete(connection);
    if (failure !== undefined) this.#refused(failure);
    this.pools.serve();
  }

  #refused(cause: unknown): void {
    if (this.isClosed) return;
    const error = cause instanceof Error ? cause : new Error(String(cause));
    const hasAny = this.pools.openCount > 0;
    this.isWithheld = true;
    this.#pausedUntilMs = performance.now() + (hasAny ? PAUSE_MS : FIRST_PAUSE_MS);
    if (hasAny) this.pools.onWithheld(error);
    // The server may let in one of several that were asked for at once.
    else if (this.pools.openingCount === 0) this.#rejectAll(error, REFUSED_MS);
  }

  #rejectAll(error: Error, waitedMs = 0): void {
    for (const quota of this.#quotas) quota.reject(error, waitedMs);
  }

  async #probe(connection: PooledConnection): Promise<void> {
    if (await connection.answers()) this.takeBack(connection);
    else await this.#drop(connection);
    this.pools.serve();
  }

  async #drop(connection: PooledConnection): Promise<void> {
    this.#open.delete(connection);
    await connection.close();
  }

  #sweep(): void {
    const before = performance.now() - IDLE_MS;
    while (this.#open.size > 1 && (this.#idle[0]?.answeredAtMs ?? before) < before) {
      const oldest = this.#idle.shift();
      if (oldest !== undefined) void this.#drop(oldest);
    }
  }
}
