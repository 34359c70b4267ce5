import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../domain/clock.ts';
import { mapLimited } from '../lib/map-limited.ts';
import type { Logger } from '../telemetry/logger.ts';
import { CACHED_MS_MAX, type SessionCache } from './session-cache.ts';

/** Pause between tries to notify an unreachable Redis. */
const NOTIFY_AGAIN_MS = 1_000;
/** How many of the latest ends are kept for a Redis that comes back. */
const RECENT_MAX = 10_000;
/** How many sessions are sent to Redis at a time: thousands at once would block other commands. */
const NOTIFIED_AT_ONCE = 200;
/** How many ends are sent at a time, each with up to `NOTIFIED_AT_ONCE` sessions. */
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
  readonly #pending = new Set<Ended>();
  #isNotifying = false;

  constructor(ending: Ending) {
    this.#ending = ending;
    // A Redis restored from an older copy has the sessions, but not the marks of their ends.
    ending.cache.onReturn(() => this.#notifyOfRecent());
  }

  /**
   * Commits the end of sessions. Redis is notified before, until that succeeds, so that no reader caches one again.
   * @param hashes of the sessions' tokens @returns what `commit` returns
   * @throws whatever `commit` throws; the sessions then stay live
   */
  async commit<T>(
    operatorId: string,
    hashes: readonly Buffer[],
    commit: () => Promise<T>,
  ): Promise<T> {
    const { clock, logger } = this.#ending;
    const ended = { hashes: hashes.map(copyOf), untilMs: clock.monotonicMs() + CACHED_MS_MAX };
    this.#keep(ended);
    const confirmed = await this.#notify(ended);
    const result = await commit().catch((error: unknown) => {
      // It may have taken effect nevertheless, and a repeat would find nothing to end and not notify Redis.
      if (!confirmed) this.#notifyLater(ended);
      throw error;
    });
    if (!confirmed && !(await this.#notify(ended))) {
      logger.warn(
        {
          operator: operatorId,
          sessions: hashes.length,
          note: 'profiles and balances may be served from cached copies until Redis is back',
        },
        'session.end_not_in_redis',
      );
      this.#notifyLater(ended);
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

  #notifyOfRecent(): void {
    for (const ended of this.#recent) this.#pending.add(ended);
    void this.#notifyPending();
  }

  #notifyLater(ended: Ended): void {
    this.#pending.add(ended);
    void this.#notifyPending();
  }

  /** One loop at a time, until Redis is notified of each end, or its copies have expired. */
  async #notifyPending(): Promise<void> {
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    while (this.#pending.size > 0) {
      const batch = [...this.#pending];
      // An end added again after this is sent once more: Redis may have come back meanwhile.
      this.#pending.clear();
      const confirmed = await mapLimited(batch, ENDS_AT_ONCE, (ended) => this.#isNotified(ended));
      const missed = batch.filter((_, at) => confirmed[at] === false);
      for (const ended of missed) this.#pending.add(ended);
      if (missed.length > 0) await sleep(NOTIFY_AGAIN_MS, undefined, { ref: false });
    }
    this.#isNotifying = false;
  }

  async #isNotified(ended: Ended): Promise<boolean> {
    if (ended.untilMs <= this.#ending.clock.monotonicMs()) return true;
    return await this.#notify(ended);
  }

  async #notify({ hashes }: Ended): Promise<boolean> {
    const { cache } = this.#ending;
    const confirmed = await mapLimited(hashes, NOTIFIED_AT_ONCE, (hash) => cache.distrust(hash));
    return confirmed.every(Boolean);
  }
}

/** With memory of its own: the driver's hash is a part of 64 KiB that it would keep. */
function copyOf(hash: Buffer): Buffer {
  return Buffer.alloc(hash.length, hash);
}
