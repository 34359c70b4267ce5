export interface GatheringOptions {
  /** The longest that a row waits for others. */
  readonly waitMs: number;
  /** With this many rows waiting, none waits any longer. */
  readonly enough: number;
}

/** Delays rows that nobody waits for, so that one statement writes many of them. */
export class Gathering {
  readonly #options: GatheringOptions;
  #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: GatheringOptions) {
    this.#options = options;
  }

  /** Resolves when enough rows wait, when `release` is called, or when the first of them has waited long enough. */
  wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    if (this.#waiting.length >= this.#options.enough) this.release();
    else this.#timer ??= setTimeout(() => this.release(), this.#options.waitMs);
    return promise;
  }

  /** Releases all waiting rows: an urgent row is about to be written, and they go with it. */
  release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}
