/** Thrown by `within` when the time was over first. */
export class OutOfTime extends Error {
  constructor(waitedMs: number) {
    super(`gave up after ${Math.round(waitedMs)} ms`);
    this.name = 'OutOfTime';
  }
}

/**
 * Waits for a promise, but no longer than `limitMs`. The promise itself goes on: whoever gives up
 * must say what becomes of its result.
 * @throws OutOfTime when the limit passed first
 */
export function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  // By hand: a race makes five promises of its own, and every callback waits several times.
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new OutOfTime(limitMs)), limitMs);
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
