import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { UnsuitableServer } from './unsuitable-server.ts';

/** SQLSTATE if a server, a database or a role has no connection left (`too_many_connections`). */
const TOO_MANY = '53300';
/** PgBouncer has one SQLSTATE for all that it refuses itself (`protocol_violation`): only its words tell. */
const POOLERS_OWN = '08P01';
/** It lets no more clients in, or had no connection to the server for this one in time. */
const POOLER_FULL =
  /^(?:no more connections allowed|client connections exceeded|query_wait_timeout)/;
/** How long a pool uses only its existing connections after a refusal: each try costs a full server a process. */
const PAUSE_MS = 1_000;
/** How often a pool without any connection tries a full server again. */
const TRY_EVERY_MS = 100;
/** The longest that a caller waits for a connection: here, in its pool, or for a silent server. */
export const CONNECT_MS_MAX = 4_000;
/** The message of the pool of `pg` for a caller that got none of its connections in time. */
const QUEUE_OVER = 'timeout exceeded when trying to connect';

/** A pool of this process. */
interface Member {
  readonly pool: Pool;
  /** The configured maximum; `pool.options.max` is the present one. */
  readonly max: number;
  /** Whether another pool has to give up a connection so that this one gets its first. */
  readonly isNeeded: boolean;
  /** Established connections, in use or idle; `pool.totalCount` also counts those still connecting. */
  readonly connected: ReadonlySet<PoolClient>;
  /** Until then it tries to open only its first connection. */
  pausedUntilMs: number;
  /** When a pool without any connection may try a full server again. */
  nextTryMs: number;
}

/**
 * Shares the server's connections between the pools of a process. If the server gives no further connection
 * (it is full, the password has changed, its name does not resolve), callers do not fail: they wait for one of
 * the connections that their pool has. At a full server, a pool without any gets an idle one of
 * another pool.
 */
export class ConnectionSharing {
  readonly #members = new Map<Pool, Member>();
  readonly #onRefused: (error: Error) => void;
  /** Until then no pool tries to open more connections. */
  #fullUntilMs = Number.NEGATIVE_INFINITY;
  #refusal: Error | undefined;

  /** @param onRefused called each time the server gives no further connection, and for no other failure */
  constructor(onRefused: (error: Error) => void = () => undefined) {
    this.#onRefused = onRefused;
  }

  /**
   * @param max how many connections the pool may have
   * @param isNeeded whether another pool has to give up a connection for its first one, at the risk that another
   *   process takes it
   */
  add(pool: Pool, max: number, isNeeded = true): void {
    const never = Number.NEGATIVE_INFINITY;
    const connected = connectedOf(pool);
    this.#members.set(pool, {
      pool,
      max,
      isNeeded,
      connected,
      pausedUntilMs: never,
      nextTryMs: never,
    });
  }

  /**
   * A connection of a pool that was added.
   * @throws Error of `pg` if there is none; for a server that stays full, after 4 s
   */
  async take(pool: Pool): Promise<PoolClient> {
    const member = this.#members.get(pool);
    if (member === undefined) throw new Error('the pool was not added');
    const endsAtMs = performance.now() + CONNECT_MS_MAX;
    let refusal: Error | undefined;
    do {
      if (this.#mayConnect(member)) {
        try {
          return await pool.connect();
        } catch (error) {
          if (isQueueOver(error)) throw queueOver(member, error);
          if (!isWorthWaiting(error, member)) throw error;
          if (performance.now() >= endsAtMs) throw error;
          this.#refused(member, error);
          refusal = error;
        }
      }
      // The timer keeps the process alive: a command may have nothing else to do.
      await sleep(TRY_EVERY_MS);
    } while (performance.now() < endsAtMs);
    throw refusal ?? this.#refusal ?? new Error('PostgreSQL has no connection left');
  }

  /** Also true for a pool at its maximum, where the caller queues, and for a closed one, which rejects. */
  #mayConnect(member: Member): boolean {
    const { pool, connected } = member;
    this.#limit(member);
    const nowMs = performance.now();
    if (pool.ending || connected.size > 0 || nowMs >= this.#fullUntilMs) return true;
    if (nowMs < member.nextTryMs) return false;
    member.nextTryMs = nowMs + TRY_EVERY_MS;
    return true;
  }

  #refused(member: Member, error: Error): void {
    const untilMs = performance.now() + PAUSE_MS;
    this.#onRefused(error);
    if (isFull(error)) {
      this.#fullUntilMs = untilMs;
      this.#refusal = error;
      if (member.isNeeded && member.connected.size === 0) this.#freeOne();
    } else member.pausedUntilMs = untilMs;
    // Otherwise each caller waiting in the pool would try in turn.
    this.#limit(member);
  }

  /** Sets how many connections the pool may have at present. */
  #limit({ pool, max, connected, pausedUntilMs }: Member): void {
    const nowMs = performance.now();
    const isPaused = connected.size > 0 && nowMs < pausedUntilMs;
    pool.options.max = isPaused || nowMs < this.#fullUntilMs ? Math.max(1, connected.size) : max;
  }

  /** Closes an idle connection of the largest pool, so that the pool without any can open one. */
  #freeOne(): void {
    const [richest] = [...this.#members.keys()]
      .filter(({ totalCount, idleCount }) => totalCount > 1 && idleCount > 0)
      .sort((a, b) => b.totalCount - a.totalCount);
    if (richest === undefined) return;
    richest.options.max = richest.totalCount;
    void richest.connect().then(
      (client) => client.release(true),
      // That pool has just lost the connection itself.
      () => undefined,
    );
  }
}

/** A pool's connections, from being established until they are given up. */
function connectedOf(pool: Pool): ReadonlySet<PoolClient> {
  const connected = new Set<PoolClient>();
  const forget = (_: unknown, client: PoolClient) => connected.delete(client);
  pool.on('connect', (client) => connected.add(client));
  pool.on('error', forget);
  // `remove` comes only once the connection has ended, which may take minutes for a dead one.
  pool.on('release', (error, client) => {
    if (error) forget(error, client);
  });
  pool.on('remove', (client) => connected.delete(client));
  return connected;
}

/**
 * Whether a connection may become free: at a full server another client may leave, and after any other refusal the
 * pool's existing connections still work. A pool without any, at a server that is down, fails at once.
 */
function isWorthWaiting(error: unknown, { pool, connected }: Member): error is Error {
  if (!(error instanceof Error) || error instanceof UnsuitableServer || pool.ending) return false;
  return isFull(error) || connected.size > 0;
}

/**
 * Whether the caller waited in its pool for a connection, which no server has refused. The pool's timer may end a part
 * of a millisecond before any limit of ours, so that only the pool's message tells.
 */
function isQueueOver(error: unknown): boolean {
  return error instanceof Error && error.message === QUEUE_OVER;
}

/** The error for the log: the pool's own says that connecting failed, and would point people to the network. */
function queueOver({ pool, max, connected }: Member, error: unknown): unknown {
  if (connected.size < Math.min(max, pool.options.max)) return error;
  const seconds = CONNECT_MS_MAX / 1_000;
  return new Error(
    `all ${connected.size} connections of this kind have been in use for ${seconds} s`,
    { cause: error },
  );
}

/** Whether a server or its pooler refused a connection because it has no more of them. */
function isFull(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false;
  return error.code === TOO_MANY || (error.code === POOLERS_OWN && POOLER_FULL.test(error.message));
}
