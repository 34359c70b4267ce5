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
export async function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  const { promise: alarm, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new OutOfTime(limitMs)), limitMs);
  try {
    return await Promise.race([promise, alarm]);
  } finally {
    clearTimeout(timer);
  }
}
