/** Does work again and again, after the pause that each run asks for. */
export class Loop {
  readonly #work: () => Promise<number>;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #isStopping = false;

  /** @param work resolves to the pause after it, in milliseconds; never rejects */
  constructor(work: () => Promise<number>) {
    this.#work = work;
  }

  start(): void {
    this.#next(0);
  }

  /** Stops, and resolves once the run in progress has ended. */
  async close(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    await this.#working;
  }

  #next(pauseMs: number): void {
    if (this.#isStopping) return;
    this.#timer = setTimeout(() => {
      this.#working = this.#work().then((nextMs) => this.#next(nextMs));
    }, pauseMs);
  }
}
