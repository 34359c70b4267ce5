import { setImmediate as otherWork } from 'node:timers/promises';

/** Long work goes on for this long before callbacks get their turn. */
const SLICE_MS = 5;
/** The clock is read every so many steps. */
const STEPS_BETWEEN = 64;

/** Long work in slices of a few milliseconds; ask after each small step. */
export class Slices {
  #steps = 0;
  #endsAtMs = performance.now() + SLICE_MS;

  /** Whether `next` is to be waited for now. */
  isOver(): boolean {
    this.#steps += 1;
    return this.#steps % STEPS_BETWEEN === 0 && performance.now() >= this.#endsAtMs;
  }

  /** Maps one item a step. */
  async map<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
    const mapped: R[] = [];
    for (const item of items) {
      mapped.push(map(item));
      if (this.isOver()) await this.next();
    }
    return mapped;
  }

  /** Resolves once everything else that waits has had its turn. */
  async next(): Promise<void> {
    await otherWork();
    this.#endsAtMs = performance.now() + SLICE_MS;
  }
}
