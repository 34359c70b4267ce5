import { FailureLines } from '../../lib/failure-lines.ts';
import { Loop } from '../../lib/loop.ts';
import { closeLeftOpen, readGrants } from './read-grants.ts';
import { readTemplates } from './read-templates.ts';
import type { ReadingBack } from './reader.ts';

/** At most one page of templates and one of bonuses in this time, so that the service is never overloaded. */
const BUSY_MS = 200;
const IDLE_MS = 1_000;
/** How often the gauge is updated, and batches that a crash left half closed are closed. */
const DUTIES_EVERY_MS = 4_000;

/**
 * Finds out what became of calls that the service never answered, and keeps the copies of templates fresh.
 * Each page is claimed in PostgreSQL, so any number of processes may run it.
 */
export class BonusReadBack {
  readonly #reading: ReadingBack;
  readonly #failureLines: FailureLines;
  /** Each by itself: a list of templates that gets no answer must not keep lost batches waiting for its timeout (I7). */
  readonly #loops: readonly Loop[];
  #dutiesAtMs = Number.NEGATIVE_INFINITY;

  constructor(reading: ReadingBack) {
    this.#reading = reading;
    this.#failureLines = new FailureLines(reading.clock);
    this.#loops = [
      this.#loop(() => this.#orWarn('templates', () => readTemplates(this.#reading))),
      this.#loop(() => this.#grantsAndDuties()),
    ];
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  /** Ends after the pages under way. */
  async close(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.close()));
  }

  /** @param work returns whether there is probably more to do right away */
  #loop(work: () => Promise<boolean>): Loop {
    return new Loop(async () => ((await work()) ? BUSY_MS : IDLE_MS));
  }

  async #grantsAndDuties(): Promise<boolean> {
    const hadGrants = await this.#orWarn('grants', () => readGrants(this.#reading));
    const nowMs = this.#reading.clock.monotonicMs();
    if (nowMs - this.#dutiesAtMs >= DUTIES_EVERY_MS) {
      this.#dutiesAtMs = nowMs;
      // Separately: one that always fails must not prevent the other.
      await this.#orWarn('duties', () => this.#duties());
    }
    return hadGrants;
  }

  async #duties(): Promise<boolean> {
    await closeLeftOpen(this.#reading);
    const counts = await this.#reading.intents.countOpen();
    const { bonusOpenIntents } = this.#reading.metrics;
    bonusOpenIntents.reset();
    for (const { operator, kind, count } of counts) bonusOpenIntents.set({ operator, kind }, count);
    return false;
  }

  async #orWarn(duty: string, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      if (!this.#failureLines.next(duty)) return false;
      this.#reading.logger.warn({ err: error, duty }, 'bonus.read_back_failed');
      return false;
    }
  }
}
