import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../domain/errors.ts';
import { LEASE_SECONDS } from './bets/lease.ts';

/** When a server goes away, the pool hands out some more of its dead connections. */
const REPEAT_AFTER_MS = [0, 25, 100, 250];
/** Whoever waits has given up by the time a frozen server's statement ends: then nothing is repeated. */
const REPEAT_WITHIN_MS = 2_000;

/**
 * Repeats a write when a broken connection left the fate of its commit unknown (I3).
 * @param write one that recognises its own earlier effect by attempt id, so that asking again tells
 *   what became of it
 * @throws GatewayError `DATABASE_UNAVAILABLE` when it is still unknown after the last repeat
 */
export async function withRepeats<T>(write: () => Promise<T>): Promise<T> {
  const beganAtMs = performance.now();
  for (const pauseMs of REPEAT_AFTER_MS) {
    try {
      return await write();
    } catch (error) {
      const repeats =
        error instanceof GatewayError && performance.now() - beganAtMs < REPEAT_WITHIN_MS;
      if (!repeats) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return await write();
}

const LATER_EVERY_MS = 1_000;

/**
 * Goes on with an outcome that `withRepeats` has given up, when PostgreSQL is away for longer: until it is
 * written, or the lease of its attempt has ended and the bet is anybody's. Whoever waited has been told that
 * it is not on record, so it is to be written as one that comes late.
 * @returns never rejects, and does not keep a process alive: what is not written is left to the lease
 */
export async function writeLater(write: () => Promise<unknown>): Promise<void> {
  const endsAtMs = performance.now() + LEASE_SECONDS * 1_000;
  while (performance.now() < endsAtMs) {
    await sleep(LATER_EVERY_MS, undefined, { ref: false });
    const isAway = await write().then(
      () => false,
      (error: unknown) => error instanceof GatewayError,
    );
    if (!isAway) return;
  }
}

/** By when a caller has to be answered who has been told already: whatever is written now is late. */
export const LONG_AGO = new Date(0);
