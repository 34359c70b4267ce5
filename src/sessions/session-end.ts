import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { CACHED_MS_MAX, type SessionCache } from './session-cache.ts';

/** Between tries to notify a Redis that was away which sessions are over. */
const TELL_AGAIN_MS = 1_000;

export interface Ending {
  readonly cache: SessionCache;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Commits the end of sessions so that no cached copy outlives it. Redis is notified before the commit,
 * so that no reader caches a session again in between, and as often as it takes to be heard.
 * @param hashes of the sessions' tokens
 * @returns what `commit` brings
 * @throws whatever `commit` throws; the sessions then live on, and are read from PostgreSQL
 */
export async function endEverywhere<T>(
  ending: Ending,
  operatorId: string,
  hashes: readonly Buffer[],
  commit: () => Promise<T>,
): Promise<T> {
  const heard = await distrust(ending, hashes);
  const result = await commit();
  if (!heard && !(await distrust(ending, hashes))) {
    ending.logger.warn(
      {
        operator: operatorId,
        sessions: hashes.length,
        note: 'cached reads may pass until Redis is back',
      },
      'session.end_not_in_redis',
    );
    distrustLater(ending, hashes, ending.clock.monotonicMs() + CACHED_MS_MAX);
  }
  return result;
}

/** Until Redis has heard, or its copies are over by themselves. */
function distrustLater(ending: Ending, hashes: readonly Buffer[], untilMs: number): void {
  const again = async () => {
    const heard = await distrust(ending, hashes);
    if (!heard && ending.clock.monotonicMs() < untilMs) distrustLater(ending, hashes, untilMs);
  };
  setTimeout(() => void again(), TELL_AGAIN_MS).unref();
}

async function distrust({ cache }: Ending, hashes: readonly Buffer[]): Promise<boolean> {
  const heard = await Promise.all(hashes.map((hash) => cache.distrust(hash)));
  return heard.every(Boolean);
}
