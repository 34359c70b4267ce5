export interface GatheringOptions {
  /** How long a row waits for others at most. */
  readonly waitMs: number;
  /** This many rows do not wait any longer. */
  readonly enough: number;
}

/** Lets rows that nobody waits for gather, so that one statement writes many of them. */
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

  /** Lets all go that wait: a row that cannot wait is about to be written, and takes them along. */
  release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}
