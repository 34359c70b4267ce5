/** How long work runs before it yields to callbacks. */
const SLICE_MS = 5;
/** For steps as small as a line of text, the clock is read once in this many. */
const STEPS_BETWEEN = 64;

/** Work whose slice is over, in the order in which it goes on. */
const waiting: (() => void)[] = [];

/** Lets one waiter go on in each turn of the event loop: all at once would delay callbacks (I7). */
function letOneGoOn(): void {
  setImmediate(() => {
    const goOn = waiting.shift();
    if (waiting.length > 0) letOneGoOn();
    goOn?.();
  });
}

/** Splits long work into slices of a few milliseconds, so that callbacks run in between. */
export class Slices {
  #steps = 0;
  #endsAtMs = performance.now() + SLICE_MS;

  /** Whether to await `next` now; call it after each small step. */
  isOver(): boolean {
    this.#steps += 1;
    return this.#steps % STEPS_BETWEEN === 0 && this.hasPassed;
  }

  /** Maps items one after the other. Each may take long, so the clock is read after each. */
  async map<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
    const mapped: R[] = [];
    for (const item of items) {
      mapped.push(map(item));
      if (this.hasPassed) await this.next();
    }
    return mapped;
  }

  /** Whether the slice is over, by the clock. */
  get hasPassed(): boolean {
    return performance.now() >= this.#endsAtMs;
  }

  /** Resolves once all other waiting work has had a chance to run. */
  async next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    if (waiting.length === 1) letOneGoOn();
    await promise;
    this.#endsAtMs = performance.now() + SLICE_MS;
  }
}

/** Runs work that yields after each of its steps, each of which may take long. */
export async function inSlices<T>(work: Generator<undefined, T>): Promise<T> {
  const slices = new Slices();
  let step = work.next();
  while (!step.done) {
    if (slices.hasPassed) await slices.next();
    step = work.next();
  }
  return step.value;
}
