import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../domain/errors.ts';
import { LEASE_MS } from '../bets/lease.ts';

/** Pauses between repeats: after a server fails, the pool hands out a few more of its dead connections. */
const REPEAT_AFTER_MS = [0, 25, 100, 250];
/** No repeats after this: by the time a frozen server's statement ends, its caller has given up. */
const REPEAT_WITHIN_MS = 2_000;

/**
 * Repeats a write if a broken connection left it unknown whether it was committed (I3).
 * @param write recognises its own earlier effect by attempt id
 * @throws GatewayError `DATABASE_UNAVAILABLE` if it is still unknown after the last repeat
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
 * Keeps trying to write an outcome that `withRepeats` gave up, as a late one, until the lease has ended: its caller
 * has been answered. @returns never rejects, and does not keep the process alive
 */
export async function writeLater(write: () => Promise<unknown>): Promise<void> {
  const endsAtMs = performance.now() + LEASE_MS;
  while (performance.now() < endsAtMs) {
    await sleep(LATER_EVERY_MS, undefined, { ref: false });
    const isAway = await write().then(
      () => false,
      (error: unknown) => error instanceof GatewayError,
    );
    if (!isAway) return;
  }
}
