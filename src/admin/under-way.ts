/** Work that was asked for and goes on, also for a caller who has gone meanwhile. */
export class UnderWay {
  readonly #works = new Set<Promise<unknown>>();

  async during<T>(work: Promise<T>): Promise<T> {
    this.#works.add(work);
    try {
      return await work;
    } finally {
      this.#works.delete(work);
    }
  }

  /** Resolves when all that is under way now has ended; what begins later is not waited for. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#works);
  }
}
