import { setImmediate as otherWork } from 'node:timers/promises';

/** Long work goes on for this long before callbacks get their turn. */
const SLICE_MS = 5;
/** For steps as small as a line of text, the clock is read once in this many. */
const STEPS_BETWEEN = 64;

/** Long work in slices of a few milliseconds, so that callbacks get their turn in between. */
export class Slices {
  #steps = 0;
  #endsAtMs = performance.now() + SLICE_MS;

  /** Whether `next` is to be waited for now; asked after each small step. */
  isOver(): boolean {
    this.#steps += 1;
    return this.#steps % STEPS_BETWEEN === 0 && this.hasPassed;
  }

  /** Maps one item after the other, each of which may take long by itself: the clock is read behind each. */
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

  /** Resolves once everything else that waits has had its turn. */
  async next(): Promise<void> {
    await otherWork();
    this.#endsAtMs = performance.now() + SLICE_MS;
  }
}

/** Carries out work that pauses after each of its steps, each of which may take long by itself. */
export async function inSlices<T>(work: Generator<undefined, T>): Promise<T> {
  const slices = new Slices();
  let step = work.next();
  while (!step.done) {
    if (slices.hasPassed) await slices.next();
    step = work.next();
  }
  return step.value;
}
