import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { UnsuitableServer } from './unsuitable-server.ts';

/** SQLSTATE of a server, a database or a role that has no connection left (`too_many_connections`). */
const TOO_MANY = '53300';
/** So long no pool asks for more than it has: each question costs a full server a process. */
const CONTENT_MS = 1_000;
/** For a pool that has none, somebody asks a full server again after so long. */
const ASK_EVERY_MS = 100;
/** As long as a pool tries to connect to a server that says nothing. */
const WAIT_MS = 4_000;

/** A pool of the room. */
interface Member {
  readonly pool: Pool;
  /** By its configuration; `pool.options.max` is how many it may have at the moment. */
  readonly max: number;
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

  /** @param max how many connections the pool may have */
  add(pool: Pool, max: number): void {
    const never = Number.NEGATIVE_INFINITY;
    this.#members.set(pool, { pool, max, contentUntilMs: never, nextQuestionMs: never });
  }

  /**
   * A connection of a pool that was added.
   * @throws Error of `pg` when there is none; of a server that stays full, after 4 s
   */
  async take(pool: Pool): Promise<PoolClient> {
    const member = this.#members.get(pool);
    if (member === undefined) throw new Error('the pool was not added');
    const endsAtMs = performance.now() + WAIT_MS;
    do {
      if (this.#mayConnect(member)) {
        try {
          return await pool.connect();
        } catch (error) {
          if (!isWorthWaiting(error, pool)) throw error;
          // Who has waited for so long was not refused: all connections of the pool were in use.
          if (performance.now() >= endsAtMs) throw error;
          this.#refused(member, error);
        }
      }
      await sleep(ASK_EVERY_MS, undefined, { ref: false });
    } while (performance.now() < endsAtMs);
    throw this.#refusal ?? new Error('PostgreSQL has no connection left');
  }

  /** A pool that has all it may takes its callers one after the other. */
  #mayConnect(member: Member): boolean {
    const { pool, max } = member;
    const nowMs = performance.now();
    const isContent = nowMs < Math.max(member.contentUntilMs, this.#fullUntilMs);
    pool.options.max = isContent ? Math.max(1, pool.totalCount) : max;
    if (pool.totalCount > 0 || nowMs >= this.#fullUntilMs) return true;
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
      if (member.pool.totalCount === 0) this.#freeOne();
    } else member.contentUntilMs = untilMs;
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

/** Of a full server somebody may leave; whatever else keeps it from giving a connection takes none of those that are there. */
function isWorthWaiting(error: unknown, pool: Pool): error is Error {
  if (!(error instanceof Error) || error instanceof UnsuitableServer || pool.ending) return false;
  return isFull(error) || pool.totalCount > 0;
}

function isFull(error: Error): boolean {
  return error instanceof DatabaseError && error.code === TOO_MANY;
}
