import { GatewayError } from '../domain/errors.ts';

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
