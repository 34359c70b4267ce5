import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { UnsuitableServer } from './unsuitable-server.ts';

/** SQLSTATE of a server, a database or a role that has no connection left (`too_many_connections`). */
const TOO_MANY = '53300';
/** After a refusal a pool makes do with what it has for this long: each try costs a full server a process. */
const PAUSE_MS = 1_000;
/** How often a pool without any connection tries a full server again. */
const TRY_EVERY_MS = 100;
/** The longest that a caller waits for a connection, be it here, in its pool, or at a server that says nothing. */
export const CONNECT_MS_MAX = 4_000;
/** All that the pool of `pg` says to a caller that nobody gave one of its connections. */
const QUEUE_OVER = 'timeout exceeded when trying to connect';

/** A pool of this process. */
interface Member {
  readonly pool: Pool;
  /** As configured; `pool.options.max` is how many it may have at the moment. */
  readonly max: number;
  /** Whether another pool gives up a connection, so that this one gets its first. */
  readonly isNeeded: boolean;
  /** Used or not; `pool.totalCount` also counts those that are only trying to connect. */
  readonly connected: ReadonlySet<PoolClient>;
  /** Until then it tries for none but its first. */
  pausedUntilMs: number;
  /** When a pool without any connection may try a full server again. */
  nextTryMs: number;
}

/**
 * How the pools of a process share the connections that the server gives them. Where it gives no further one
 * (others have taken all that were left, the password has changed, its name is not resolved), no caller fails
 * for that: it waits for one of the connections that its pool has. At a full server, a pool without any gets
 * one that another pool does not use.
 */
export class ConnectionRoom {
  readonly #members = new Map<Pool, Member>();
  readonly #onRefused: (error: Error) => void;
  /** Until then no pool tries for more than it has. */
  #fullUntilMs = Number.NEGATIVE_INFINITY;
  #refusal: Error | undefined;

  /** @param onRefused called each time that the server gives no further connection, and for no other failure */
  constructor(onRefused: (error: Error) => void = () => undefined) {
    this.#onRefused = onRefused;
  }

  /**
   * @param max how many connections the pool may have
   * @param isNeeded whether another pool gives up a connection for its first one, which another process may take
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
   * @throws Error of `pg` when there is none; of a server that stays full, after 4 s
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
      // A command may have nothing else to do: its process must not end meanwhile.
      await sleep(TRY_EVERY_MS);
    } while (performance.now() < endsAtMs);
    throw refusal ?? this.#refusal ?? new Error('PostgreSQL has no connection left');
  }

  /** Also true for a pool that has all it may, where the caller queues, and for a closed one, which refuses it. */
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
    // Otherwise each caller that waits in the pool would try in turn.
    this.#limit(member);
  }

  /** Sets how many connections the pool may have at the moment. */
  #limit({ pool, max, connected, pausedUntilMs }: Member): void {
    const nowMs = performance.now();
    const isPaused = connected.size > 0 && nowMs < pausedUntilMs;
    pool.options.max = isPaused || nowMs < this.#fullUntilMs ? Math.max(1, connected.size) : max;
  }

  /** Closes an idle connection of the pool that has most, so that the one without any gets its place. */
  #freeOne(): void {
    const [richest] = [...this.#members.keys()]
      .filter(({ totalCount, idleCount }) => totalCount > 1 && idleCount > 0)
      .sort((a, b) => b.totalCount - a.totalCount);
    if (richest === undefined) return;
    richest.options.max = richest.totalCount;
    void richest.connect().then(
      (client) => client.release(true),
      // That pool has just lost the connection by itself.
      () => undefined,
    );
  }
}

/** A pool's connections, from when they are made until they are given up. */
function connectedOf(pool: Pool): ReadonlySet<PoolClient> {
  const connected = new Set<PoolClient>();
  const forget = (_: unknown, client: PoolClient) => connected.delete(client);
  pool.on('connect', (client) => connected.add(client));
  pool.on('error', forget);
  // The pool tells of its removal only once it has ended, which a dead connection may take minutes to do.
  pool.on('release', (error, client) => {
    if (error) forget(error, client);
  });
  pool.on('remove', (client) => connected.delete(client));
  return connected;
}

/**
 * Whether a connection may come free: at a full server another client may leave, and after any other refusal those that
 * the pool has still work. A pool without any, at a server that is away, tells its callers at once.
 */
function isWorthWaiting(error: unknown, { pool, connected }: Member): error is Error {
  if (!(error instanceof Error) || error instanceof UnsuitableServer || pool.ending) return false;
  return isFull(error) || connected.size > 0;
}

/**
 * Whether the caller has waited in its pool for a connection, which no server has refused. The pool's timer may be over a
 * part of a millisecond before any limit of ours, so that only the pool's words tell.
 */
function isQueueOver(error: unknown): boolean {
  return error instanceof Error && error.message === QUEUE_OVER;
}

/** These words stand in the log: the pool's own say that a connection was tried, and send people to the network. */
function queueOver({ pool, max, connected }: Member, error: unknown): unknown {
  if (connected.size < Math.min(max, pool.options.max)) return error;
  const seconds = CONNECT_MS_MAX / 1_000;
  return new Error(
    `all ${connected.size} connections of this kind have been in use for ${seconds} s`,
    { cause: error },
  );
}

function isFull(error: Error): boolean {
  return error instanceof DatabaseError && error.code === TOO_MANY;
}
