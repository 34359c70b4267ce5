import { ConnectionPool, type ConnectionQuota, type PoolOptions } from './connection-pool.ts';
import type { PooledConnection } from './pooled-connection.ts';

/** If a statement is not answered for this long, older connections may be dead too, and are probed before use. */
const SILENT_MS = 1_000;
/** At most this many connections, and at most half of all, are kept from what is not urgent. */
const RESERVED_MAX = 4;

/** The pools of a process. If the server withholds a connection, they share those that there are. */
export class ConnectionPools {
  /** Called each time the server withholds a connection from a process that has some. */
  readonly onWithheld: (error: Error) => void;
  readonly #pools: ConnectionPool[] = [];
  readonly #quotas: ConnectionQuota[] = [];
  /** The longest used first. */
  readonly #inUse = new Set<PooledConnection>();
  #unused = Promise.withResolvers<void>();

  constructor(onWithheld: (error: Error) => void = () => undefined) {
    this.onWithheld = onWithheld;
  }

  add(options: PoolOptions): ConnectionPool {
    const pool = new ConnectionPool(this, this.#quotas, options);
    this.#pools.push(pool);
    return pool;
  }

  get openCount(): number {
    return this.#pools.reduce((sum, { openCount }) => sum + openCount, 0);
  }

  get openingCount(): number {
    return this.#pools.reduce((sum, { openingCount }) => sum + openingCount, 0);
  }

  get use() {
    return this.#pools.map(({ use }) => use);
  }

  /** Gives free connections to those who wait, the oldest first, and opens further ones for the others. */
  serve(): void {
    const unserved = new Set<ConnectionQuota>();
    for (;;) {
      const quota = this.#next(unserved);
      const waiter = quota?.oldest;
      if (quota === undefined || waiter === undefined) break;
      const connection = this.#freeFor(quota);
      if (connection === undefined) unserved.add(quota);
      else {
        this.#inUse.add(connection);
        quota.give(waiter, connection);
      }
    }
    for (const pool of this.#pools) pool.openFurther();
  }

  takeBack(connection: PooledConnection): void {
    this.#inUse.delete(connection);
    if (!connection.isBroken) connection.answeredAtMs = performance.now();
    this.#pools.some((pool) => pool.takeBack(connection));
    this.serve();
    if (this.#inUse.size === 0) this.#unused.resolve();
  }

  isDoubtful(connection: PooledConnection): boolean {
    const [longest] = this.#inUse;
    if (longest === undefined || performance.now() - longest.givenAtMs < SILENT_MS) return false;
    return connection.answeredAtMs < longest.givenAtMs;
  }

  /** Ends after the statements under way. */
  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.close()));
    this.#unused = Promise.withResolvers<void>();
    if (this.#inUse.size > 0) await this.#unused.promise;
  }

  #next(unserved: ReadonlySet<ConnectionQuota>): ConnectionQuota | undefined {
    let next: ConnectionQuota | undefined;
    for (const quota of this.#quotas) {
      if (quota.busy >= quota.max || unserved.has(quota) || quota.oldest === undefined) continue;
      if (next?.oldest === undefined || quota.oldest.sinceMs < next.oldest.sinceMs) next = quota;
    }
    return next;
  }

  #freeFor({ pool, isUrgent }: ConnectionQuota): PooledConnection | undefined {
    if (!isUrgent && !this.#hasUnreserved()) return undefined;
    const own = pool.idle();
    if (own !== undefined || !pool.isWithheld) return own;
    for (const other of this.#pools) {
      const borrowed = other === pool ? undefined : other.idle();
      if (borrowed !== undefined) return borrowed;
    }
    return undefined;
  }

  #hasUnreserved(): boolean {
    const open = this.openCount;
    const busy = this.#quotas.reduce((sum, quota) => sum + (quota.isUrgent ? 0 : quota.busy), 0);
    return busy < open - Math.min(RESERVED_MAX, Math.floor(open / 2));
  }
}
