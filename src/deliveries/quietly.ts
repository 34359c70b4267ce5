import type { Clock } from '../domain/clock.ts';
import { FailureLines } from '../lib/failure-lines.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Runs duties of the worker that the next sweep repeats if they fail. */
export class Quietly {
  readonly #logger: Logger;
  readonly #lines: FailureLines;

  constructor({ logger, clock }: { readonly logger: Logger; readonly clock: Clock }) {
    this.#logger = logger;
    this.#lines = new FailureLines(clock);
  }

  /** Logs that it failed, but not every time. Never rejects. */
  async run(duty: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#lines.next(duty)) return;
      this.#logger.warn({ err: error, duty }, 'deliveries.duty_failed');
    }
  }
}
