import { Pool, type PoolClient } from 'pg';
import { databasePool } from '../database.ts';
import type { ConnectionPool, ConnectionQuota } from '../server/connection-pool.ts';
import { ConnectionPools } from '../server/connection-pools.ts';

const CONNECTIONS = 2;
/** Longer than any transaction: what holds a connection for longer waits for a server that is gone. */
const USE_MS_MAX = 15_000;

type Connected = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: (error?: boolean | Error) => void,
) => void;

/** As Prisma knows a pool, with connections of our own pools. */
export class PoolForPrisma extends Pool {
  readonly #quota: ConnectionQuota;
  readonly #own: ConnectionPools | undefined;

  /** @param pool default: one of its own */
  constructor(url: string, pool?: ConnectionPool) {
    super();
    if (pool === undefined) this.#own = new ConnectionPools();
    const own = { plans: 'each', max: CONNECTIONS, onIdleError: () => undefined } as const;
    this.#quota =
      this.#own === undefined
        ? (pool as ConnectionPool).quota(CONNECTIONS, false)
        : databasePool(this.#own, url, own).quota(CONNECTIONS);
  }

  override connect(): Promise<PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<PoolClient> | undefined {
    const taken = this.#take();
    if (connected === undefined) return taken;
    taken.then(
      (client) => connected(undefined, client, client.release),
      (error: Error) => connected(error, undefined, () => undefined),
    );
    return undefined;
  }

  /** Ends its own connections only. */
  override async end(): Promise<void> {
    await this.#own?.close();
  }

  async #take(): Promise<PoolClient> {
    const connection = await this.#quota.take();
    const limit = setTimeout(() => connection.destroy(), USE_MS_MAX);
    let isReleased = false;
    const release = (error?: boolean | Error) => {
      if (isReleased) return;
      isReleased = true;
      clearTimeout(limit);
      // Whatever failed may have left a transaction open.
      if (error) connection.destroy();
      this.#quota.giveBack(connection);
    };
    return Object.assign(connection.client, { release });
  }
}
