import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, Pool, type PoolClient } from 'pg';
import { GatewayError } from '../domain/errors.ts';
import { within } from '../lib/within.ts';
import { connectionTo, SHORT_SETTINGS } from './connection.ts';
import { CONNECT_MS_MAX, ConnectionRoom } from './connection-room.ts';
import { connectionChecks, type KnownDatabase } from './on-connect.ts';
import type { ServerRuns } from './server-runs.ts';
import { SilentConnections } from './silent-connections.ts';
import { isUndone, speaksOfServer } from './sql-state.ts';
import type { SqlValue } from './sql-value.ts';
import { Columns, type Statement, type TypedStatement } from './statement.ts';

/** Longer than a callback may wait, so that its own deadline decides; then the server gives up. */
const STATEMENT_TIMEOUT_MS = 6_000;
/** So long the other end of a connection that is in doubt has to answer that it is there. */
const PROBE_MS = 200;
/** Queries waiting for a connection beyond this are refused at once: they could only time out. */
const WAITING_MAX = 5_000;

export interface DatabaseOptions {
  readonly url: string;
  readonly connectionsMax: number;
  /**
   * `each` (default): a plan for each execution, by the values and what the tables hold. `kept`: one
   * plan for as long as its connection is kept, for statements that find every row by its key.
   * `ordered`: nothing is sorted that an index has in order, for statements that read the next so many.
   */
  readonly plans?: keyof typeof PLANS;
  /** How long a statement may take; 6 s unless given. */
  readonly statementTimeoutMs?: number;
  /** How long a connection stays that nobody needs; unless given 30 s, and the last one for good. */
  readonly idleMs?: number;
  /** Shared by all pools of a server: what one of them notices, the others need not find out. Default: its own. */
  readonly silent?: SilentConnections<PoolClient>;
  /** Likewise: where the server has no connection left, they share those that they have. */
  readonly room?: ConnectionRoom;
  /** Of a process that goes on for long; see `connectionChecks`. Default: nothing. */
  readonly known?: KnownDatabase;
  /** Errors of idle connections; the pool replaces them by itself. */
  readonly onIdleError: (error: Error) => void;
}

/**
 * A kept plan that was made while a table was empty would scan it for ever, so it must not scan at
 * all. Planning takes a third of the time of a batch of places, and most of that of a result.
 *
 * What is open in an outage has become so since the statistics were made: by what they say, all of it
 * would be sorted to find the next few, millions each time.
 */
const PLANS = {
  each: {},
  kept: { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' },
  ordered: {
    enable_seqscan: 'off',
    enable_bitmapscan: 'off',
    enable_sort: 'off',
  },
} as const;

/**
 * So long a connection keeps its plans, and makes them anew. Of tables with a few rows PostgreSQL reads
 * all by an index as well, and would go on doing so until its next ANALYZE, however fast they grow.
 */
const PLANS_KEPT_MS = 30_000;

type Query = Statement & { readonly values: SqlValue[] };
type Row = Readonly<Record<string, unknown>>;
type Rows = readonly Row[];

/** A pool of PostgreSQL connections whose every failure is a `GatewayError` or a bug. */
export class Database {
  readonly #pool: Pool;
  readonly #plans: keyof typeof PLANS;
  /** When a connection's plans were begun, by `performance.now()`. */
  readonly #plannedAtMs = new WeakMap<PoolClient, number>();
  readonly #silent: SilentConnections<PoolClient>;
  readonly #room: ConnectionRoom;
  readonly #connectionsMax: number;
  readonly #runs: ServerRuns | undefined;
  /** For a connection; of a full server not in the pool alone. */
  #waiting = 0;

  constructor(options: DatabaseOptions) {
    this.#plans = options.plans ?? 'each';
    this.#silent = options.silent ?? new SilentConnections();
    this.#room = options.room ?? new ConnectionRoom();
    this.#connectionsMax = options.connectionsMax;
    this.#runs = options.known?.runs;
    const { statementTimeoutMs = STATEMENT_TIMEOUT_MS, idleMs } = options;
    const keepsOne = idleMs === undefined;
    this.#pool = new Pool({
      ...connectionTo(options.url, 'wagergate', {
        ...SHORT_SETTINGS,
        ...PLANS[this.#plans],
      }),
      max: options.connectionsMax,
      // A server that is full by then would not give it again.
      min: keepsOne ? 1 : 0,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      idleTimeoutMillis: idleMs ?? 30_000,
      statement_timeout: statementTimeoutMs,
      // A frozen server never reports its own timeout; the client counts as well.
      query_timeout: statementTimeoutMs + 1_000,
      idle_in_transaction_session_timeout: 10_000,
      // One stays however long nobody needs it: a network on the way that forgets what is quiet must not forget it.
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
      // What is there after a failover is a server that no start has looked at.
      ...connectionChecks(options.known),
    });
    // Who keeps none can do without.
    this.#room.add(this.#pool, options.connectionsMax, keepsOne);
    this.#pool.on('error', options.onIdleError);
    // The pool listens only while nobody has a connection, and whoever gets a new one listens a moment later.
    // A server that is just going away says so in between, and an error that nobody hears ends the process.
    this.#pool.on('connect', (client) => {
      this.#silent.answered(client);
      client.on('error', () => undefined);
    });
  }

  /**
   * Runs one statement on any connection; what its rows are, only `run` says.
   * @throws GatewayError `DATABASE_UNAVAILABLE` when the server could not be reached or did not
   *   answer; whether a write took effect is then unknown
   */
  protected async query(statement: Statement, values: readonly SqlValue[]): Promise<Rows> {
    if (this.#waiting >= WAITING_MAX) {
      throw new GatewayError('DATABASE_UNAVAILABLE', 'too many queries wait for PostgreSQL');
    }
    try {
      return await this.#unlessUndone({ ...statement, values: [...values] });
    } catch (error) {
      throw isUnavailable(error)
        ? new GatewayError('DATABASE_UNAVAILABLE', `PostgreSQL: ${messageOf(error)}`, {
            cause: error,
          })
        : error;
    }
  }

  /**
   * Every statement is a transaction of its own. One that the server undid for the sake of another
   * has done nothing, so that it is sent again as it was: an outcome that was given up here would
   * leave its bet to the end of a lease.
   */
  async #unlessUndone(query: Query): Promise<Rows> {
    for (const pauseMs of REPEAT_AFTER_MS) {
      try {
        return await this.#send(query);
      } catch (error) {
        if (!(error instanceof DatabaseError) || !isUndone(error.code ?? '')) throw error;
        await sleep(pauseMs);
      }
    }
    return await this.#send(query);
  }

  #send(query: Query): Promise<Rows> {
    return this.#with(async (client) => {
      if (this.#plans === 'kept') await this.#forgetOldPlans(client);
      return (await client.query<Row>(query)).rows;
    });
  }

  async #with<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#trusted();
    const ended = this.#silent.ask();
    let failure: Error | undefined;
    const onError = (error: Error) => {
      failure = error;
    };
    client.once('error', onError);
    try {
      const used = await use(client);
      this.#silent.answered(client);
      return used;
    } catch (error) {
      failure ??= error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      ended();
      client.off('error', onError);
      // One that failed is closed, as the pool's own queries do it.
      client.release(failure);
    }
  }

  /** A new connection is always trusted, so that this ends. */
  async #trusted(): Promise<PoolClient> {
    for (;;) {
      const client = await this.#connect();
      if (this.#runs?.isLeft(client) === true) client.release(true);
      else if (!this.#silent.isDoubtful(client) || (await this.#answers(client))) return client;
    }
  }

  /** A server that is only slow keeps its connections: there may be no place for another one. */
  async #answers(client: PoolClient): Promise<boolean> {
    try {
      await within(PROBE_MS, client.query('SELECT 1'));
      this.#silent.answered(client);
      return true;
    } catch {
      // Whatever it is, the next connection tells.
      client.release(true);
      return false;
    }
  }

  /**
   * Whoever is not let in (after a failover by a `pg_hba.conf` without this role, say) was told nothing
   * about a statement, whatever the SQLSTATE.
   */
  async #connect(): Promise<PoolClient> {
    this.#waiting += 1;
    try {
      return await this.#room.take(this.#pool);
    } catch (cause) {
      throw new Error(messageOf(cause), { cause });
    } finally {
      this.#waiting -= 1;
    }
  }

  /** A sixth of what a new connection takes, which would forget them as well. */
  async #forgetOldPlans(client: PoolClient): Promise<void> {
    const nowMs = performance.now();
    const plannedAtMs = this.#plannedAtMs.get(client);
    if (plannedAtMs !== undefined && nowMs - plannedAtMs < PLANS_KEPT_MS) return;
    if (plannedAtMs !== undefined) await client.query('DISCARD PLANS');
    this.#plannedAtMs.set(client, nowMs);
  }

  /**
   * Runs a statement with named parameters, its rows decoded.
   * @throws GatewayError `DATABASE_UNAVAILABLE` when the server could not be reached or did not
   *   answer; whether a write took effect is then unknown
   * @throws UnreadableRow where a row means something that this release does not know
   */
  async run<Input, Row>(statement: TypedStatement<Input, Row>, input: Input): Promise<Row[]> {
    const { name, text } = statement;
    const rows = await this.query({ name, text }, statement.values(input));
    return rows.map((row) => statement.decode(new Columns(row)));
  }

  /**
   * Whether the server takes writes; a standby does not, nor one that is set to read only. The connection
   * on which it does not is closed: the same address may lead to another server by now.
   * @throws Error when the server could not be reached or did not answer
   */
  async takesWrites(): Promise<boolean> {
    try {
      await this.#with(async (client) => {
        const { rows } = await client.query<Row>('SHOW transaction_read_only');
        if (rows[0]?.transaction_read_only !== 'off') throw new TakesNoWrites();
      });
      return true;
    } catch (error) {
      if (error instanceof TakesNoWrites) return false;
      throw error;
    }
  }

  /** How the pool's connections are used at this moment. */
  get use(): {
    readonly inUse: number;
    readonly idle: number;
    readonly waiting: number;
    readonly max: number;
  } {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return {
      inUse: totalCount - idleCount,
      idle: idleCount,
      waiting: waitingCount,
      max: this.#connectionsMax,
    };
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

class TakesNoWrites extends Error {}

/** Two that meet again and again wait a little for each other. */
const REPEAT_AFTER_MS = [0, 10, 40];

function isUnavailable(error: unknown): boolean {
  // Whatever is not PostgreSQL's own word about a statement is the connection's.
  return !(error instanceof DatabaseError) || speaksOfServer(error.code ?? '');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
