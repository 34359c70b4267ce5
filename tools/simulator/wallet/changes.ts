interface Waiter {
  readonly holds: () => boolean;
  readonly done: () => void;
}

/** Lets tests wait for a state instead of sleeping: every change checks the waiting predicates. */
export class Changes {
  readonly #waiters = new Set<Waiter>();

  notify(): void {
    for (const waiter of this.#waiters) {
      if (waiter.holds()) waiter.done();
    }
  }

  /**
   * Resolves as soon as `predicate` is true. @param what text for people, in the error
   * @throws Error if it is not true within `timeoutMs`
   */
  waitFor(predicate: () => boolean, timeoutMs: number, what: string): Promise<void> {
    if (predicate()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        holds: predicate,
        done: () => {
          clearTimeout(timer);
          this.#waiters.delete(waiter);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter);
        reject(new Error(`waited ${timeoutMs} ms in vain for: ${what}`));
      }, timeoutMs);
      this.#waiters.add(waiter);
    });
  }
}
