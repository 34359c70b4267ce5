import type { Metrics } from './metrics.ts';

/** Gauges are at most 5 s old (docs/reference.md, Metrics). */
const EVERY_MS = 3_000;

/** How to check the servers that a process depends on. */
export interface Servers {
  /** Whether it answers. A rejection means no; either must come within a second or so. */
  readonly postgresql: () => Promise<boolean>;
  readonly redis: () => Promise<boolean>;
  /** Statements that wait for a connection of PostgreSQL's. */
  readonly waiting: () => number;
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
    const { connectionsWaiting, postgresqlUp, redisUp } = this.#metrics;
    const { postgresql, redis, waiting } = this.#servers;
    connectionsWaiting.set(waiting());
    const [postgresqlIsUp, redisIsUp] = await Promise.all([answers(postgresql), answers(redis)]);
    postgresqlUp.set(postgresqlIsUp ? 1 : 0);
    redisUp.set(redisIsUp ? 1 : 0);
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
