/** A semaphore per key: at most `atOnce` holders of each key at a time; others wait in order of arrival. */
export class KeyedSemaphore {
  readonly #atOnce: number;
  readonly #working = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** How many keys are held in memory: none stays after its last holder, as addresses and operators come and go. */
  get keysKept(): number {
    return new Set([...this.#working.keys(), ...this.#waiting.keys()]).size;
  }

  /** @returns a function that releases it, to be called once */
  async take(key: string): Promise<() => void> {
    const working = this.#working.get(key) ?? 0;
    if (working < this.#atOnce) {
      this.#working.set(key, working + 1);
    } else {
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiting = this.#waiting.get(key);
      if (waiting === undefined) this.#waiting.set(key, [resolve]);
      else waiting.push(resolve);
      await promise;
    }
    return () => this.#end(key);
  }

  #end(key: string): void {
    // Passes it on to the next one waiting, or frees it.
    const waiting = this.#waiting.get(key);
    const next = waiting?.shift();
    if (waiting?.length === 0) this.#waiting.delete(key);
    if (next !== undefined) {
      next();
      return;
    }
    const working = (this.#working.get(key) ?? 1) - 1;
    if (working === 0) this.#working.delete(key);
    else this.#working.set(key, working);
  }
}
