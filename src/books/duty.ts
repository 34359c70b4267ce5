/** What is done again and again, and after how long. */
export interface DutyWork {
  /** In the log, where it fails. */
  readonly name: string;
  /** @returns milliseconds until it is done again */
  readonly work: () => Promise<number>;
  /** Until it is tried again where it failed. */
  readonly afterFailureMs: number;
  readonly onFailure: (error: unknown, name: string) => void;
}

/** Does one thing in a loop of its own: how long others take, or that they fail, does not matter to it. */
export class Duty {
  readonly #work: DutyWork;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(work: DutyWork) {
    this.#work = work;
  }

  start(): void {
    this.#next(0);
  }

  /** Ends after what is under way. */
  async close(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    await this.#working;
  }

  #next(delayMs: number): void {
    if (this.#isStopping) return;
    this.#timer = setTimeout(() => {
      this.#working = this.#once().then((pauseMs) => this.#next(pauseMs));
    }, delayMs);
  }

  async #once(): Promise<number> {
    const { work, name, afterFailureMs, onFailure } = this.#work;
    try {
      return await work();
    } catch (error) {
      onFailure(error, name);
      return afterFailureMs;
    }
  }
}

/**
 * How long to pause after each run of work that grows with the data, in milliseconds.
 * @param everyMs the shortest pause
 * @param share of the time that the work may take. One run that was held up says nothing about the next:
 *   of the last two the shorter counts
 */
export function pausesOf(everyMs: number, share: number): (tookMs: number) => number {
  let beforeMs = 0;
  return (tookMs) => {
    const pauseMs = Math.max(everyMs, Math.min(tookMs, beforeMs) / share);
    beforeMs = tookMs;
    return pauseMs;
  };
}
