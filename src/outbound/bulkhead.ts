/**
 * Counts the calls of one class that are under way and refuses one too many, at once: nothing
 * queues here, a queue would spend the caller's deadline (I1, I7).
 */
export class Bulkhead {
  #limit: number;
  #inFlight = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get full(): boolean {
    return this.#inFlight >= this.#limit;
  }

  /** Takes a place, to be given back with `leave`; false when there is none. */
  enter(): boolean {
    if (this.full) return false;
    this.#inFlight += 1;
    return true;
  }

  leave(): void {
    this.#inFlight -= 1;
  }

  /** Takes effect for the next call; those under way stay. */
  resize(limit: number): void {
    this.#limit = limit;
  }
}
