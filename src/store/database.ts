import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, Pool, type PoolClient, type QueryConfig } from 'pg';
import { GatewayError } from '../domain/errors.ts';
import { errorMessage } from '../lib/faults.ts';
import { within } from '../lib/within.ts';
import { ClientOfPool } from './server/client-of-pool.ts';
import { connectionTo, SHORT_SETTINGS } from './server/connection.ts';
import { CONNECT_MS_MAX, ConnectionSharing } from './server/connection-sharing.ts';
import { checkAgain, connectionChecks, type KnownDatabase } from './server/on-connect.ts';
import { SilentConnections } from './server/silent-connections.ts';
import { answerOf } from './sql/answer-of.ts';
import { KeptPlans, PLANS, type Plans } from './sql/plans.ts';
import { isUndone, speaksOfServer } from './sql/sql-state.ts';
import type { SqlValue } from './sql/sql-value.ts';
import { Columns, type Statement, type TypedStatement } from './sql/statement.ts';

/** Longer than a callback may wait, so that its own deadline decides; then the server gives up. */
const STATEMENT_TIMEOUT_MS = 6_000;
/** How long the server has to answer on a doubtful connection. */
const PROBE_MS = 200;
/** Queries waiting for a connection beyond this are refused at once: they could only time out. */
const WAITING_MAX = 5_000;
/** Pauses before a statement that the server rolled back is repeated, so that two do not collide repeatedly. */
const REPEAT_AFTER_MS = [0, 10, 40];

export interface DatabaseOptions {
  readonly url: string;
  readonly connectionsMax: number;
  /** Default: `each`. */
  readonly plans?: Plans;
  /** How long a statement may take; 6 s unless given. */
  readonly statementTimeoutMs?: number;
  /** How long an idle connection is kept. Default: 30 s, and the last one for ever. */
  readonly idleMs?: number;
  /** Shared by all pools of a server, so that they share what one of them notices. Default: its own. */
  readonly silent?: SilentConnections<PoolClient>;
  /** Also shared: if the server has no connection left, the pools share those that they have. */
  readonly sharing?: ConnectionSharing;
  /** For long-running processes; see `connectionChecks`. Default: none. */
  readonly known?: KnownDatabase;
  /** Errors of idle connections; the pool replaces them by itself. */
  readonly onIdleError: (error: Error) => void;
}

type Query = Statement & { readonly values: SqlValue[] };
type Row = Readonly<Record<string, unknown>>;
type Rows = readonly Row[];

/** A pool of PostgreSQL connections whose every failure is a `GatewayError` or a bug. */
export class Database {
  readonly #pool: Pool;
  readonly #keptPlans: KeptPlans | undefined;
  readonly #silent: SilentConnections<PoolClient>;
  readonly #sharing: ConnectionSharing;
  readonly #connectionsMax: number;
  readonly #known: KnownDatabase | undefined;
  /** How long a statement's answer may take: a frozen server never reports its own timeout. */
  readonly #answerMs: number;
  /** Queries that wait for a connection, in the pool or at the server. */
  #waiting = 0;

  constructor(options: DatabaseOptions) {
    const { plans = 'each' } = options;
    this.#keptPlans = plans === 'kept' ? new KeptPlans() : undefined;
    this.#silent = options.silent ?? new SilentConnections();
    this.#sharing = options.sharing ?? new ConnectionSharing();
    this.#connectionsMax = options.connectionsMax;
    this.#known = options.known;
    const { statementTimeoutMs = STATEMENT_TIMEOUT_MS, idleMs } = options;
    this.#answerMs = statementTimeoutMs + 1_000;
    const keepsOne = idleMs === undefined;
    this.#pool = new Pool({
      ...connectionTo(options.url, 'wagergate', {
        ...SHORT_SETTINGS,
        ...PLANS[plans],
      }),
      Client: ClientOfPool,
      max: options.connectionsMax,
      // A server that has become full meanwhile would not give the last one again.
      min: keepsOne ? 1 : 0,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      idleTimeoutMillis: idleMs ?? 30_000,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: 10_000,
      // One stays however long nobody needs it: a network on the way that forgets what is quiet must not forget it.
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
      // What is there after a failover is a server that no start has looked at.
      ...connectionChecks(options.known, this.#answerMs),
    });
    // A pool that keeps none can do without.
    this.#sharing.add(this.#pool, options.connectionsMax, keepsOne);
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
      if (isUnavailable(error)) {
        const what = `PostgreSQL: ${errorMessage(error)}`;
        throw new GatewayError('DATABASE_UNAVAILABLE', what, { cause: error });
      }
      // A bug: its stack leads to the socket on which PostgreSQL answered, and people need to see who asked.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    }
  }

  /**
   * Every statement is a transaction of its own. One that the server rolled back because of another has
   * had no effect, so it is repeated: giving up an outcome here would block its bet until the end of
   * a lease.
   */
  async #unlessUndone({ tellingIndex, ...query }: Query): Promise<Rows> {
    for (const pauseMs of REPEAT_AFTER_MS) {
      try {
        return await this.#send(query);
      } catch (error) {
        if (!(error instanceof DatabaseError) || !isUndone(error.code ?? '')) throw error;
        if (error.constraint !== undefined && error.constraint === tellingIndex) throw error;
        await sleep(pauseMs);
      }
    }
    return await this.#send(query);
  }

  #send(query: Query): Promise<Rows> {
    return this.#with(async (client) => {
      await this.#keptPlans?.forgetOld(client, this.#answerMs);
      return await answerOf(client, this.#asPlanned(query), this.#answerMs);
    });
  }

  /**
   * Where each execution has its own plan, a statement without values goes unnamed: PostgreSQL never plans a prepared
   * one again that has none, whatever `plan_cache_mode` says, and would keep the plan that it made for empty tables.
   */
  #asPlanned(query: Query): QueryConfig {
    if (this.#keptPlans !== undefined || query.values.length > 0) return query;
    return { text: query.text };
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

  /** A connection to the present server that answers. A new one is trusted, unless a doubt came meanwhile: the loop ends. */
  async #trusted(): Promise<PoolClient> {
    for (;;) {
      const client = await this.#connect();
      if (this.#known?.runs.isLeft(client) === true) client.release(true);
      else if (this.#silent.isDoubtful(client) && !(await this.#answers(client))) continue;
      else if (this.#known?.runs.isDoubted(client) !== true) return client;
      else if (await this.#leadsThere(client, this.#known)) return client;
    }
  }

  /** A connection to a merely slow server is kept, since the server may have no other one left. */
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

  /** Whether a connection leads to the database still, where a new one was refused because it led to another. */
  async #leadsThere(client: PoolClient, known: KnownDatabase): Promise<boolean> {
    try {
      await checkAgain(client, known, this.#answerMs);
      return true;
    } catch {
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
      return await this.#sharing.take(this.#pool);
    } catch (cause) {
      throw new Error(errorMessage(cause), { cause });
    } finally {
      this.#waiting -= 1;
    }
  }

  /**
   * Runs a statement with named parameters, its rows decoded.
   * @throws GatewayError `DATABASE_UNAVAILABLE` when the server could not be reached or did not
   *   answer; whether a write took effect is then unknown
   * @throws UnreadableRow where a row means something that this release does not know
   */
  async run<Input, Row>(statement: TypedStatement<Input, Row>, input: Input): Promise<Row[]> {
    const { name, text, tellingIndex } = statement;
    const rows = await this.query({ name, text, tellingIndex }, statement.values(input));
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
        const [row] = await answerOf(
          client,
          { text: 'SHOW transaction_read_only' },
          this.#answerMs,
        );
        if (row?.transaction_read_only !== 'off') throw new TakesNoWrites();
      });
      return true;
    } catch (error) {
      if (error instanceof TakesNoWrites) return false;
      throw error;
    }
  }

  /** The present use of the pool's connections. */
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

function isUnavailable(error: unknown): boolean {
  // Whatever is not PostgreSQL's own word about a statement is the connection's.
  return !(error instanceof DatabaseError) || speaksOfServer(error.code ?? '');
}
