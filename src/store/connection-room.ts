import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { UnsuitableServer } from './unsuitable-server.ts';

/** SQLSTATE of a server, a database or a role that has no connection left (`too_many_connections`). */
const TOO_MANY = '53300';
/** So long no pool asks for more than it has: each question costs a full server a process. */
const CONTENT_MS = 1_000;
/** For a pool that has none, somebody asks a full server again after so long. */
const ASK_EVERY_MS = 100;
/**
 * So long whoever needs a connection waits for it, in the room as in a pool and at a server that says nothing: who has
 * waited in the pool for so long was not refused.
 */
export const CONNECT_MS_MAX = 4_000;

/** A pool of the room. */
interface Member {
  readonly pool: Pool;
  /** By its configuration; `pool.options.max` is how many it may have at the moment. */
  readonly max: number;
  /** Whether others make room for its first. */
  readonly isNeeded: boolean;
  /** Those that it has, used or not; `pool.totalCount` also counts what is only trying to connect. */
  readonly connected: ReadonlySet<PoolClient>;
  /** Until then it asks for none but its first. */
  contentUntilMs: number;
  nextQuestionMs: number;
}

/**
 * How the pools of a process share the connections that a server lets them have. Where it gives no further one (others
 * have taken all that were left, the password has changed, its name is not resolved), nobody fails for want of it: who
 * needs one waits for one that the pool has. A pool without any gets, of a full server, one that another pool does not use.
 */
export class ConnectionRoom {
  readonly #members = new Map<Pool, Member>();
  readonly #onRefused: (error: Error) => void;
  /** Of all pools. */
  #fullUntilMs = Number.NEGATIVE_INFINITY;
  #refusal: Error | undefined;

  /** @param onRefused told each time that the server gives no further connection, and of nothing else that fails */
  constructor(onRefused: (error: Error) => void = () => undefined) {
    this.#onRefused = onRefused;
  }

  /**
   * @param max how many connections the pool may have
   * @param isNeeded whether others give up one for its first; what is given up, another process may get
   */
  add(pool: Pool, max: number, isNeeded = true): void {
    const never = Number.NEGATIVE_INFINITY;
    const connected = connectedOf(pool);
    this.#members.set(pool, {
      ...{ pool, max, isNeeded, connected },
      ...{ contentUntilMs: never, nextQuestionMs: never },
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
          if (!isWorthWaiting(error, member)) throw error;
          // Who has waited for so long was not refused: all connections of the pool were in use.
          if (performance.now() >= endsAtMs) throw error;
          this.#refused(member, error);
          refusal = error;
        }
      }
      // A command may have nothing else to do: its process must not end meanwhile.
      await sleep(ASK_EVERY_MS);
    } while (performance.now() < endsAtMs);
    throw refusal ?? this.#refusal ?? new Error('PostgreSQL has no connection left');
  }

  /** A pool that has all it may takes its callers one after the other; one that is closed refuses them. */
  #mayConnect(member: Member): boolean {
    const { pool, connected } = member;
    this.#limit(member);
    const nowMs = performance.now();
    if (pool.ending || connected.size > 0 || nowMs >= this.#fullUntilMs) return true;
    if (nowMs < member.nextQuestionMs) return false;
    member.nextQuestionMs = nowMs + ASK_EVERY_MS;
    return true;
  }

  #refused(member: Member, error: Error): void {
    const untilMs = performance.now() + CONTENT_MS;
    this.#onRefused(error);
    if (isFull(error)) {
      this.#fullUntilMs = untilMs;
      this.#refusal = error;
      if (member.isNeeded && member.connected.size === 0) this.#freeOne();
    } else member.contentUntilMs = untilMs;
    // Those that wait in the pool would ask one after the other.
    this.#limit(member);
  }

  #limit({ pool, max, connected, contentUntilMs }: Member): void {
    const nowMs = performance.now();
    const isContent = connected.size > 0 && nowMs < contentUntilMs;
    pool.options.max = isContent || nowMs < this.#fullUntilMs ? Math.max(1, connected.size) : max;
  }

  /** Closes a connection of the pool that has most, so that the one without any can have it. */
  #freeOne(): void {
    const [richest] = [...this.#members.keys()]
      .filter(({ totalCount, idleCount }) => totalCount > 1 && idleCount > 0)
      .sort((a, b) => b.totalCount - a.totalCount);
    if (richest === undefined) return;
    richest.options.max = richest.totalCount;
    void richest.connect().then(
      (client) => client.release(true),
      // It has just lost it by itself.
      () => undefined,
    );
  }
}

/** A pool's connections, from when they are made until they are given up. */
function connectedOf(pool: Pool): ReadonlySet<PoolClient> {
  const connected = new Set<PoolClient>();
  const left = (_: unknown, client: PoolClient) => connected.delete(client);
  pool.on('connect', (client) => connected.add(client));
  pool.on('error', left);
  // The pool tells of its removal only once it has ended, which a dead connection may take minutes to do.
  pool.on('release', (error, client) => {
    if (error) left(error, client);
  });
  pool.on('remove', (client) => connected.delete(client));
  return connected;
}

/**
 * Of a full server somebody may leave; whatever else keeps it from giving a connection takes none of those that are there.
 * Of a server that is away none are: whoever asks then is told at once.
 */
function isWorthWaiting(error: unknown, { pool, connected }: Member): error is Error {
  if (!(error instanceof Error) || error instanceof UnsuitableServer || pool.ending) return false;
  return isFull(error) || connected.size > 0;
}

function isFull(error: Error): boolean {
  return error instanceof DatabaseError && error.code === TOO_MANY;
}
