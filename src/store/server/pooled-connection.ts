import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { within } from '../../lib/within.ts';
import type { Plans } from '../sql/plans.ts';

/** The longest login. Nobody waits for it: a caller gets whichever connection is free first. */
const LOGIN_MS_MAX = 15_000;
/** How long the server has to answer on a doubtful connection. */
const PROBE_MS = 200;

/** Each statement has its own time limit. Servers before 17 do not know this one, and would refuse it as an option. */
const NO_TRANSACTION_LIMIT = `
  SELECT set_config('transaction_timeout', '0', false) FROM pg_settings WHERE name = 'transaction_timeout'`;

/** One connection of a pool. */
export class PooledConnection {
  readonly client: Client;
  readonly plans: Plans;
  readonly #socket = new Socket();
  /** When its last statement was answered, by `performance.now()`. */
  answeredAtMs = 0;
  /** When it was given to whoever uses it. */
  givenAtMs = 0;
  #isBroken = false;

  /** @throws Error if a file that the address names cannot be read */
  constructor(config: ClientConfig, plans: Plans) {
    this.plans = plans;
    this.client = new Client({
      ...config,
      stream: () => this.#socket,
      connectionTimeoutMillis: LOGIN_MS_MAX,
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
    });
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** @param onBroken called once when the connection breaks, used or not @throws Error of `pg` */
  async open(onBroken: (error: Error) => void): Promise<void> {
    this.client.on('error', (error) => {
      if (this.#isBroken) return;
      this.#isBroken = true;
      onBroken(error);
    });
    await this.client.connect();
    // A pooler without room lets everybody in, and has the first statement wait.
    await within(LOGIN_MS_MAX, this.client.query(NO_TRANSACTION_LIMIT));
    if (this.#isBroken) throw new Error('PostgreSQL has ended the connection at once');
    this.answeredAtMs = performance.now();
  }

  /** @returns whether the server still answers */
  async answers(): Promise<boolean> {
    try {
      await within(PROBE_MS, this.client.query('SELECT 1'));
      this.answeredAtMs = performance.now();
      return !this.#isBroken;
    } catch {
      return false;
    }
  }

  /** Ends the connection in order; the server may no longer answer. */
  async close(): Promise<void> {
    this.#isBroken = true;
    await within(PROBE_MS, this.client.end()).catch(() => undefined);
    this.#socket.destroy();
  }

  /** Breaks it off, also while it is being opened. */
  destroy(): void {
    this.#isBroken = true;
    this.#socket.destroy();
  }
}
