import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';
import { mapLimited } from '../lib/map-limited.ts';
import type { Logger } from '../telemetry/logger.ts';
import { CACHED_MS_MAX, type SessionCache } from './session-cache.ts';

/** Pause between tries to notify an unreachable Redis. */
const TELL_AGAIN_MS = 1_000;
/** How many of the latest ends are kept for a Redis that comes back. */
const RECENT_MAX = 10_000;
/** How many sessions are sent to Redis at a time: thousands at once would block other commands. */
const TOLD_AT_ONCE = 200;
/** How many ends are sent at a time, each with up to `TOLD_AT_ONCE` sessions. */
const ENDS_AT_ONCE = 5;

interface Ending {
  readonly cache: SessionCache;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Ended {
  /** Of the sessions' tokens. */
  readonly hashes: readonly Buffer[];
  /** Monotonic time from which Redis has no copy of them any more, even if it was never notified. */
  readonly untilMs: number;
}

/** Ends sessions so that no cached copy outlives them. */
export class SessionEnds {
  readonly #ending: Ending;
  /** Oldest first. */
  readonly #recent = new Set<Ended>();
  /** Ends of which Redis has not been notified yet. */
  readonly #untold = new Set<Ended>();
  #isTelling = false;

  constructor(ending: Ending) {
    this.#ending = ending;
    // A Redis restored from an older copy has the sessions, but not the marks of their ends.
    ending.cache.onReturn(() => this.#tellRecent());
  }

  /**
   * Commits the end of sessions. Redis is notified before the commit, so that no reader caches a session
   * again in between; this is repeated until it succeeds, and whenever Redis was unreachable meanwhile.
   * @param hashes of the sessions' tokens
   * @returns what `commit` returns
   * @throws whatever `commit` throws; the sessions then stay live, and are read from PostgreSQL
   */
  async commit<T>(
    operatorId: string,
    hashes: readonly Buffer[],
    commit: () => Promise<T>,
  ): Promise<T> {
    const { clock, logger } = this.#ending;
    const ended = { hashes: hashes.map(apart), untilMs: clock.monotonicMs() + CACHED_MS_MAX };
    this.#keep(ended);
    const heard = await this.#tell(ended);
    const result = await commit().catch((error: unknown) => {
      // It may have taken effect nevertheless, and a repeat would find nothing to end and not notify Redis.
      if (!heard) this.#tellLater(ended);
      throw error;
    });
    if (!heard && !(await this.#tell(ended))) {
      logger.warn(
        {
          operator: operatorId,
          sessions: hashes.length,
          note: 'profiles and balances may be served from cached copies until Redis is back',
        },
        'session.end_not_in_redis',
      );
      this.#tellLater(ended);
    }
    return result;
  }

  #keep(ended: Ended): void {
    this.#recent.add(ended);
    const nowMs = this.#ending.clock.monotonicMs();
    for (const oldest of this.#recent) {
      if (oldest.untilMs > nowMs && this.#recent.size <= RECENT_MAX) break;
      this.#recent.delete(oldest);
    }
  }

  #tellRecent(): void {
    for (const ended of this.#recent) this.#untold.add(ended);
    void this.#tellUntold();
  }

  #tellLater(ended: Ended): void {
    this.#untold.add(ended);
    void this.#tellUntold();
  }

  /** One loop at a time, until Redis is notified of each end, or its copies have expired. */
  async #tellUntold(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    while (this.#untold.size > 0) {
      const told = [...this.#untold];
      // An end added again after this is sent once more: Redis may have come back meanwhile.
      this.#untold.clear();
      const heard = await mapLimited(told, ENDS_AT_ONCE, (ended) => this.#isHeard(ended));
      const missed = told.filter((_, at) => heard[at] === false);
      for (const ended of missed) this.#untold.add(ended);
      if (missed.length > 0) await sleep(TELL_AGAIN_MS, undefined, { ref: false });
    }
    this.#isTelling = false;
  }

  async #isHeard(ended: Ended): Promise<boolean> {
    if (ended.untilMs <= this.#ending.clock.monotonicMs()) return true;
    return await this.#tell(ended);
  }

  async #tell({ hashes }: Ended): Promise<boolean> {
    const { cache } = this.#ending;
    const heard = await mapLimited(hashes, TOLD_AT_ONCE, (hash) => cache.distrust(hash));
    return heard.every(Boolean);
  }
}

/**
 * A copy with memory of its own. A hash as PostgreSQL's driver reads it is a part of 64 KiB that Node shares among small
 * buffers, and keeps all of them for as long as it is kept itself.
 */
function apart(hash: Buffer): Buffer {
  return Buffer.alloc(hash.length, hash);
}
