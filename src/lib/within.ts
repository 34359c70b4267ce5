/** Thrown by `within` if the time is over first. */
export class OutOfTime extends Error {
  constructor(waitedMs: number) {
    super(`gave up after ${Math.round(waitedMs)} ms`);
    this.name = 'OutOfTime';
  }
}

/** Waits for a promise, but no longer than `limitMs`; the promise itself goes on. @throws OutOfTime */
export function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  return waitFor(promise, limitMs, (giveUp) => giveUp());
}

/**
 * Like `within`, but an answer that had arrived counts even if this process was busy. Not for what a caller's
 * deadline limits: a turn of the loop may take a hundred milliseconds (I1).
 */
export function withinOrArrived<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  return waitFor(promise, limitMs, setImmediate);
}

const STEP_MS = 8;

/**
 * A wait of seconds cut to whole steps, never longer: waits of the same length share one of Node's timer lists, and
 * such a timer costs half.
 */
export function stepped(limitMs: number): number {
  return limitMs < 1_000 ? limitMs : limitMs - (limitMs % STEP_MS);
}

/** @param whenOver called once the time is over, with what gives up */
function waitFor<T>(
  promise: Promise<T>,
  limitMs: number,
  whenOver: (giveUp: () => void) => void,
): Promise<T> {
  // Not Promise.race, which creates five more promises: every callback waits several times.
  return new Promise<T>((resolve, reject) => {
    const giveUp = () => reject(new OutOfTime(limitMs));
    // Where the time is over already, Node would write a warning to stderr.
    const timer = setTimeout(whenOver, stepped(Math.max(0, limitMs)), giveUp);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
