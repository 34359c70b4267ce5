import type { Metrics } from './metrics.ts';

/** Gauges are at most 5 s old (docs/contract.md, Metrics). */
const EVERY_MS = 3_000;

/** How to check the servers that a process depends on. */
export interface Servers {
  /** Whether it answers. A rejection means no; either must come within a second or so. */
  readonly postgresql: () => Promise<boolean>;
  readonly redis: () => Promise<boolean>;
  /** Its `maxmemory-policy`; undefined while it does not answer. */
  readonly redisPolicy: () => Promise<string | undefined>;
  /** PostgreSQL's connection pools; their sums are shown. */
  readonly pools: () => readonly PoolUse[];
}

export interface PoolUse {
  readonly inUse: number;
  readonly idle: number;
  /** Statements that wait for a free connection. */
  readonly waiting: number;
  readonly max: number;
}

/** Checks the servers every few seconds, so that no scrape has to wait for one that is down. */
export class ServerGauges {
  readonly #metrics: Metrics;
  readonly #servers: Servers;
  readonly #timer: NodeJS.Timeout;
  #checking: Promise<void> | undefined;

  constructor(metrics: Metrics, servers: Servers, everyMs = EVERY_MS) {
    this.#metrics = metrics;
    this.#servers = servers;
    this.#timer = setInterval(() => void this.check(), everyMs).unref();
    void this.check();
  }

  /** One check at a time, however long it takes. Never rejects. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const { postgresqlUp, redisUp, redisPolicy } = this.#metrics;
    const { postgresql, redis } = this.#servers;
    this.#lookAtPools();
    const [postgresqlIsUp, redisIsUp] = await Promise.all([answers(postgresql), answers(redis)]);
    postgresqlUp.set(postgresqlIsUp ? 1 : 0);
    redisUp.set(redisIsUp ? 1 : 0);
    const policy = redisIsUp ? await this.#servers.redisPolicy() : undefined;
    // While Redis is down, its last policy stays.
    if (policy === undefined) return;
    redisPolicy.reset();
    redisPolicy.set({ policy }, 1);
  }

  #lookAtPools(): void {
    const { connections, connectionsMax, connectionsWaiting } = this.#metrics;
    const pools = this.#servers.pools();
    const sum = (of: (pool: PoolUse) => number) => pools.reduce((all, pool) => all + of(pool), 0);
    connections.set(
      { state: 'in_use' },
      sum(({ inUse }) => inUse),
    );
    connections.set(
      { state: 'idle' },
      sum(({ idle }) => idle),
    );
    connectionsWaiting.set(sum(({ waiting }) => waiting));
    connectionsMax.set(sum(({ max }) => max));
  }
}

async function answers(check: () => Promise<boolean>): Promise<boolean> {
  try {
    return await check();
  } catch {
    // Whoever uses the server logs the reason; this is only a yes or no.
    return false;
  }
}
