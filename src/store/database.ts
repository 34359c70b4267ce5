import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientBase, DatabaseError, type QueryConfig } from 'pg';
import { GatewayError } from '../domain/errors.ts';
import { errorMessage } from '../lib/faults.ts';
import { connectionTo, SHORT_SETTINGS } from './server/connection.ts';
import type { ConnectionPool, ConnectionQuota } from './server/connection-pool.ts';
import { ConnectionPools } from './server/connection-pools.ts';
import type { PooledConnection } from './server/pooled-connection.ts';
import { answerOf } from './sql/answer-of.ts';
import { KeptPlans, PLANS, type Plans, settingsOn } from './sql/plans.ts';
import { isUndone, READ_ONLY, speaksOfServer } from './sql/sql-state.ts';
import type { SqlValue } from './sql/sql-value.ts';
import { Columns, type Statement, type TypedStatement } from './sql/statement.ts';

/** Longer than a callback may wait, so that its own deadline decides; then the server gives up. */
const STATEMENT_TIMEOUT_MS = 6_000;
/** Pauses before a statement that the server rolled back is repeated, so that two do not collide repeatedly. */
const REPEAT_AFTER_MS = [0, 10, 40];

interface StatementOptions {
  /** How many connections its statements may use at a time. */
  readonly connectionsMax: number;
  /** Default: `each`. */
  readonly plans?: Plans;
  /** How long a statement may take; 6 s unless given. */
  readonly statementTimeoutMs?: number;
}

export type DatabaseOptions = StatementOptions &
  (
    | {
        readonly url: string;
        /** Errors of idle connections; the pool replaces them by itself. */
        readonly onIdleError: (error: Error) => void;
      }
    | {
        readonly pool: ConnectionPool;
        /** Whether its statements may use the last connections. Default: true. */
        readonly isUrgent?: boolean;
      }
  );

type Query = Statement & { readonly values: SqlValue[] };
type Row = Readonly<Record<string, unknown>>;
type Rows = readonly Row[];
type Settings = Readonly<Record<string, string>>;

/** @param plans also the settings of its connections */
export function databasePool(
  pools: ConnectionPools,
  url: string,
  options: {
    readonly plans: Exclude<Plans, 'ordered'>;
    readonly max: number;
    readonly onIdleError: (error: Error) => void;
  },
): ConnectionPool {
  const { plans, max, onIdleError } = options;
  const config = {
    ...connectionTo(url, 'wagergate', { ...SHORT_SETTINGS, ...PLANS[plans] }),
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // A process that is stopped in a transaction would hold its rows until it goes on.
    idle_in_transaction_session_timeout: 10_000,
  };
  return pools.add({ config, plans, max, onIdleError });
}

/** Runs statements of one kind on a pool's connections; every failure is a `GatewayError` or a bug. */
export class Database {
  readonly #quota: ConnectionQuota;
  readonly #plans: Plans;
  readonly #keptPlans = new KeptPlans();
  /** Undefined: that of the connection. */
  readonly #timeoutMs: number | undefined;
  /** How long a statement's answer may take: a frozen server never reports its own timeout. */
  readonly #answerMs: number;
  /** Not shared with others. */
  readonly #own: ConnectionPools | undefined;

  constructor(options: DatabaseOptions) {
    const { plans = 'each', connectionsMax, statementTimeoutMs } = options;
    this.#plans = plans;
    this.#timeoutMs = statementTimeoutMs;
    this.#answerMs = (statementTimeoutMs ?? STATEMENT_TIMEOUT_MS) + 1_000;
    if ('pool' in options) this.#quota = options.pool.quota(connectionsMax, options.isUrgent);
    else {
      const { url, onIdleError } = options;
      const settings = plans === 'ordered' ? 'each' : plans;
      this.#own = new ConnectionPools();
      const own = { plans: settings, max: connectionsMax, onIdleError } as const;
      this.#quota = databasePool(this.#own, url, own).quota(connectionsMax);
    }
  }

  /**
   * Runs one statement on any connection. @throws GatewayError `DATABASE_UNAVAILABLE` when the server could not
   * be reached or did not answer; whether a write took effect is then unknown
   */
  protected async query(statement: Statement, values: readonly SqlValue[]): Promise<Rows> {
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
   * A statement that the server rolled back because of another had no effect, and is repeated: giving up an
   * outcome would block its bet until the end of a lease.
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
    return this.#with(async ({ client, plans }) => {
      if (plans === 'kept') await this.#keptPlans.forgetOld(client, this.#answerMs);
      const settings = this.#settingsOn(plans);
      if (settings !== undefined) return await this.#sendWith(settings, client, query);
      return await answerOf(client, asPlanned(query, plans), this.#answerMs);
    });
  }

  #settingsOn(plans: Plans): Settings | undefined {
    const settings = settingsOn(plans, this.#plans);
    if (this.#timeoutMs === undefined) return settings;
    return { ...settings, statement_timeout: String(this.#timeoutMs) };
  }

  /** In a transaction, whose end takes the settings back: behind a pooler the session is others' afterwards. */
  async #sendWith(settings: Settings, client: ClientBase, query: Query): Promise<Rows> {
    const set = Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = '${value}'`);
    try {
      await answerOf(client, { text: `BEGIN; ${set.join('; ')}` }, this.#answerMs);
      const rows = await answerOf(client, asPlanned(query, 'each'), this.#answerMs);
      await answerOf(client, { text: 'COMMIT' }, this.#answerMs);
      return rows;
    } catch (error) {
      if (isOfStatement(error)) await answerOf(client, { text: 'ROLLBACK' }, this.#answerMs);
      throw error;
    }
  }

  async #with<T>(use: (connection: PooledConnection) => Promise<T>): Promise<T> {
    const connection = await this.#take();
    try {
      return await use(connection);
    } catch (error) {
      // There may be no other one for it: whatever PostgreSQL says of a statement, the connection is well.
      if (!isOfStatement(error)) connection.destroy();
      throw error;
    } finally {
      this.#quota.giveBack(connection);
    }
  }

  /** Without a connection no SQLSTATE is about the statement. */
  async #take(): Promise<PooledConnection> {
    try {
      return await this.#quota.take();
    } catch (cause) {
      throw new Error(errorMessage(cause), { cause });
    }
  }

  /**
   * Runs a statement with named parameters, its rows decoded. @throws GatewayError as `query` does
   * @throws UnreadableRow where a row means something that this release does not know
   */
  async run<Input, Row>(statement: TypedStatement<Input, Row>, input: Input): Promise<Row[]> {
    const { name, text } = statement;
    const rows = await this.query({ name, text }, statement.values(input));
    return rows.map((row) => statement.decode(new Columns(row)));
  }

  /**
   * Whether the server takes writes. If not, the connection is closed: the address may lead to another by now.
   * @throws Error when the server could not be reached or did not answer
   */
  async takesWrites(): Promise<boolean> {
    try {
      await this.#with(async ({ client }) => {
        const asked = { text: 'SHOW transaction_read_only' };
        const [row] = await answerOf(client, asked, this.#answerMs);
        if (row?.transaction_read_only !== 'off') throw new TakesNoWrites();
      });
      return true;
    } catch (error) {
      if (error instanceof TakesNoWrites) return false;
      throw error;
    }
  }

  /** Ends its own pool, after the statements under way. */
  async close(): Promise<void> {
    await this.#own?.close();
  }
}

class TakesNoWrites extends Error {}

/** Without values a statement goes unnamed: PostgreSQL would keep its plan for empty tables for ever. */
function asPlanned(query: Query, plans: Plans): QueryConfig {
  return plans === 'kept' || query.values.length > 0 ? query : { text: query.text };
}

/** SQLSTATEs after which the connection ends; or it leads to a standby, and a new one may lead to the primary. */
const ENDS_CONNECTION = new RegExp(`^(?:08|57P|XX|25P03|53300|${READ_ONLY})`);

/** Whether PostgreSQL has refused the statement, and the connection can be used again. */
function isOfStatement(error: unknown): boolean {
  return error instanceof DatabaseError && !ENDS_CONNECTION.test(error.code ?? '');
}

function isUnavailable(error: unknown): boolean {
  // Whatever is not PostgreSQL's own word about a statement is the connection's.
  return !(error instanceof DatabaseError) || speaksOfServer(error.code ?? '');
}
