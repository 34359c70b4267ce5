import { Loop } from '../lib/loop.ts';

/** A recurring piece of work, and its pauses. */
interface Duty {
  /** @returns milliseconds until the next run */
  readonly work: () => Promise<number>;
  /** The pause after a failure; after each further one twice as long, `AFTER_FAILURES_MS_MAX` at most. */
  readonly afterFailureMs: number;
  readonly onFailure: (error: unknown) => void;
}

/** A duty that fails again and again, such as every 250 ms for hours, would fill the log. */
const AFTER_FAILURES_MS_MAX = 4_000;

/** A loop of its own for one piece of work, unaffected by slow or failing other duties. */
export function dutyLoop({ work, afterFailureMs, onFailure }: Duty): Loop {
  let failures = 0;
  return new Loop(async () => {
    try {
      const pauseMs = await work();
      failures = 0;
      return pauseMs;
    } catch (error) {
      onFailure(error);
      const pauseMs = afterFailureMs * 2 ** failures;
      failures += 1;
      return Math.max(afterFailureMs, Math.min(pauseMs, AFTER_FAILURES_MS_MAX));
    }
  });
}

/**
 * The pause in milliseconds after each run of work whose cost grows with the data.
 * @param share of time that the work may take, by the shorter of the last two runs
 */
export function pausesOf(everyMs: number, share: number): (tookMs: number) => number {
  let beforeMs = 0;
  return (tookMs) => {
    const pauseMs = Math.max(everyMs, Math.min(tookMs, beforeMs) / share);
    beforeMs = tookMs;
    return pauseMs;
  };
}
