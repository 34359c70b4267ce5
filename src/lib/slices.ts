import { setImmediate as otherWork } from 'node:timers/promises';

/** Long work goes on for this long before callbacks get their turn. */
const SLICE_MS = 5;
/** Of steps that are as small as a line of text the clock is read every so many. */
const STEPS_BETWEEN = 64;

/** Long work in slices of a few milliseconds; ask after each small step. */
export class Slices {
  #steps = 0;
  #endsAtMs = performance.now() + SLICE_MS;

  /** Whether `next` is to be waited for now. */
  isOver(): boolean {
    this.#steps += 1;
    return this.#steps % STEPS_BETWEEN === 0 && this.#hasPassed();
  }

  /** Maps one item after the other, each of which may take long by itself: the clock is read behind each. */
  async map<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
    const mapped: R[] = [];
    for (const item of items) {
      mapped.push(map(item));
      if (this.#hasPassed()) await this.next();
    }
    return mapped;
  }

  #hasPassed(): boolean {
    return performance.now() >= this.#endsAtMs;
  }

  /** Resolves once everything else that waits has had its turn. */
  async next(): Promise<void> {
    await otherWork();
    this.#endsAtMs = performance.now() + SLICE_MS;
  }
}
