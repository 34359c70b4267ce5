/** Counts the calls of one class in flight and refuses those above the limit at once: there is no queue (I1, I7). */
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

  /** Takes a slot, to be released with `leave`; false if there is none. */
  enter(): boolean {
    if (this.full) return false;
    this.#inFlight += 1;
    return true;
  }

  leave(): void {
    this.#inFlight -= 1;
  }

  /** Applies from the next call; those in flight stay. */
  resize(limit: number): void {
    this.#limit = limit;
  }
}
