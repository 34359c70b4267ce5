/** A recurring piece of work, and its pauses. */
export interface DutyWork {
  /** For the log, if it fails. */
  readonly name: string;
  /** @returns milliseconds until the next run */
  readonly work: () => Promise<number>;
  /** The pause after a failure; after each further one twice as long, `AFTER_FAILURES_MS_MAX` at most. */
  readonly afterFailureMs: number;
  readonly onFailure: (error: unknown, name: string) => void;
}

/** A duty that fails again and again, such as every 250 ms for hours, would fill the log. */
const AFTER_FAILURES_MS_MAX = 4_000;

/** Runs one piece of work in a loop of its own, unaffected by slow or failing other duties. */
export class Duty {
  readonly #work: DutyWork;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #isStopping = false;
  /** How often it has failed since it last succeeded. */
  #failures = 0;

  constructor(work: DutyWork) {
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

  #next(delayMs: number): void {
    if (this.#isStopping) return;
    this.#timer = setTimeout(() => {
      this.#working = this.#once().then((pauseMs) => this.#next(pauseMs));
    }, delayMs);
  }

  async #once(): Promise<number> {
    const { work, name, afterFailureMs, onFailure } = this.#work;
    try {
      const pauseMs = await work();
      this.#failures = 0;
      return pauseMs;
    } catch (error) {
      onFailure(error, name);
      const pauseMs = afterFailureMs * 2 ** this.#failures;
      this.#failures += 1;
      return Math.max(afterFailureMs, Math.min(pauseMs, AFTER_FAILURES_MS_MAX));
    }
  }
}

/**
 * The pause in milliseconds after each run of work whose cost grows with the data.
 * @param everyMs the shortest pause
 * @param share the share of time that the work may take, judged by the shorter of the last two runs, because
 *   a single run may have been held up
 */
export function pausesOf(everyMs: number, share: number): (tookMs: number) => number {
  let beforeMs = 0;
  return (tookMs) => {
    const pauseMs = Math.max(everyMs, Math.min(tookMs, beforeMs) / share);
    beforeMs = tookMs;
    return pauseMs;
  };
}
