import { setTimeout as sleep } from 'node:timers/promises';
import type { CallResult } from './signed-client.ts';

/** "Up to 10 times over about 6 minutes, exponentially growing" (service protocol, Events). */
const RETRIES_MAX = 10;
const FIRST_INTERVAL_MS = 352;

/** Milliseconds before the `n`th repeat, counted from 1; 6 minutes in all. */
function retryIntervalMs(n: number): number {
  return FIRST_INTERVAL_MS * 2 ** (n - 1);
}

export interface RetryOptions {
  /** Multiplies the intervals: tests and the demo do not have six minutes. */
  readonly scale: number;
  readonly signal: AbortSignal;
}

/**
 * Sends until an answer is final, the repeats are used up, or the signal aborts.
 * @returns the last answer, and the number of sends
 */
export async function sendUntil(
  isFinal: (result: CallResult) => boolean,
  send: () => Promise<CallResult>,
  { scale, signal }: RetryOptions,
): Promise<{ readonly last: CallResult; readonly sends: number }> {
  let last = await send();
  let sends = 1;
  while (!isFinal(last) && sends <= RETRIES_MAX) {
    const waited = await pause(retryIntervalMs(sends) * scale, signal);
    if (!waited) break;
    last = await send();
    sends += 1;
  }
  return { last, sends };
}

/** @returns false if the signal came first */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  try {
    await sleep(ms, undefined, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
