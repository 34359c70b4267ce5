/** Lets so many of each key work at a time; the others wait, in the order in which they came. */
export class Turns {
  readonly #atOnce: number;
  readonly #working = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Keys of which something is kept: addresses and operators come and go, and none stays once it is over. */
  get keysKept(): number {
    return new Set([...this.#working.keys(), ...this.#waiting.keys()]).size;
  }

  /** @returns what ends the turn, to be called once */
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
    // The turn goes on to the next, or there is one less.
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
