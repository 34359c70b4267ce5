import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError } from 'pg';

/** How often a lock that others hold is tried; callbacks proceed between the tries. */
export interface LockTries {
  readonly tries: number;
  readonly pauseMs: number;
  /** Called after each try but the last. */
  readonly onWaiting?: () => void;
}

/** A lock not granted within `lock_timeout`, and a deadlock: the holder proceeds once ours are released. */
const LOCKED_CODES: ReadonlySet<unknown> = new Set(['55P03', '40P01']);

/**
 * Runs work that needs exclusive locks. Each try waits for `lock_timeout` only: callbacks wait behind it.
 * @param work is rolled back completely if it throws
 * @throws Error if no try got the locks; whatever else `work` throws
 */
export async function withLockTries<T>(
  { tries, pauseMs, onWaiting }: LockTries,
  work: () => Promise<T>,
): Promise<T> {
  for (let left = tries - 1; ; left -= 1) {
    try {
      return await work();
    } catch (cause) {
      if (!(cause instanceof DatabaseError) || !LOCKED_CODES.has(cause.code)) throw cause;
      if (left <= 0) {
        const advice = 'wait for them or end them (pg_locks says who), then try again';
        throw new Error(`others hold its tables: ${advice}`, { cause });
      }
      onWaiting?.();
      await sleep(pauseMs);
    }
  }
}
