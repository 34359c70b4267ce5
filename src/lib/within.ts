/** Thrown by `within` if the time is over first. */
export class OutOfTime extends Error {
  constructor(waitedMs: number) {
    super(`gave up after ${Math.round(waitedMs)} ms`);
    this.name = 'OutOfTime';
  }
}

/**
 * Waits for a promise, but no longer than `limitMs`. The promise itself goes on: a caller that gives up
 * must decide what happens with its result.
 * @throws OutOfTime if the limit passes first
 */
export function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  // Not Promise.race, which creates five more promises: every callback waits several times.
  return new Promise<T>((resolve, reject) => {
    const giveUp = () => reject(new OutOfTime(limitMs));
    // If this process was busy, the timer runs before an answer that had arrived in time is read; waiting one
    // turn of the loop lets that answer count. Where the time is over already, Node would write a warning to stderr.
    const timer = setTimeout(() => setImmediate(giveUp), Math.max(0, limitMs));
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
