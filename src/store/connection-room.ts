import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError, type Pool, type PoolClient } from 'pg';

/** SQLSTATE of a server, a database or a role that has no connection left (`too_many_connections`). */
const TOO_MANY = '53300';
/** So long no pool asks a full server for more than it has: each question costs the server a process. */
const FULL_MS = 1_000;
/** For a pool that has none, somebody asks again after so long. */
const ASK_EVERY_MS = 50;
/** As long as a pool tries to connect to a server that says nothing. */
const WAIT_MS = 4_000;

/** A pool of the room. */
interface Member {
  readonly pool: Pool;
  /** By its configuration; `pool.options.max` is how many it may have at the moment. */
  readonly max: number;
  nextQuestionMs: number;
}

/**
 * How the pools of a process share the connections that a server lets them have. Where others have taken all that
 * were left, nobody fails for want of a further one: who needs it waits for one that the pool has, and a pool without
 * any gets one that another pool does not use.
 */
export class ConnectionRoom {
  readonly #members = new Map<Pool, Member>();
  readonly #onFull: (error: Error) => void;
  #fullUntilMs = Number.NEGATIVE_INFINITY;
  #refusal: Error | undefined;

  /** @param onFull told each time that the server refuses a connection because it has none left */
  constructor(onFull: (error: Error) => void = () => undefined) {
    this.#onFull = onFull;
  }

  /** @param max how many connections the pool may have */
  add(pool: Pool, max: number): void {
    this.#members.set(pool, { pool, max, nextQuestionMs: Number.NEGATIVE_INFINITY });
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
          if (!(error instanceof DatabaseError) || error.code !== TOO_MANY) throw error;
          this.#refused(member, error);
        }
      }
      await sleep(ASK_EVERY_MS, undefined, { ref: false });
    } while (performance.now() < endsAtMs);
    throw this.#refusal ?? new Error('PostgreSQL has no connection left');
  }

  /** A full pool takes its callers one after the other; it is full with what it has while the server is. */
  #mayConnect(member: Member): boolean {
    const { pool, max } = member;
    const nowMs = performance.now();
    const isFull = nowMs < this.#fullUntilMs;
    pool.options.max = isFull ? Math.max(1, pool.totalCount) : max;
    if (!isFull || pool.totalCount > 0) return true;
    if (nowMs < member.nextQuestionMs) return false;
    member.nextQuestionMs = nowMs + ASK_EVERY_MS;
    return true;
  }

  #refused({ pool }: Member, error: Error): void {
    this.#fullUntilMs = performance.now() + FULL_MS;
    this.#refusal = error;
    this.#onFull(error);
    if (pool.totalCount === 0) this.#freeOne();
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
