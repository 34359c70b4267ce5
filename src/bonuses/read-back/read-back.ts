import { closeLeftOpen, readGrants } from './read-grants.ts';
import { readTemplates } from './read-templates.ts';
import type { ReadingBack } from './reader.ts';

/** At most one page of templates and one of bonuses per tick, so that the service is never overloaded. */
const BUSY_MS = 200;
const IDLE_MS = 1_000;
/** How often the gauge is updated, and batches that a crash left half closed are closed. */
const DUTIES_EVERY_MS = 4_000;

/**
 * Finds out in the background what became of calls that the service never answered, and keeps
 * the copies of templates fresh. Any number of processes may run it at once: each page is claimed in
 * PostgreSQL.
 */
export class BonusReadBack {
  readonly #reading: ReadingBack;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> = Promise.resolve();
  #dutiesAtMs = Number.NEGATIVE_INFINITY;
  #stopping = false;

  constructor(reading: ReadingBack) {
    this.#reading = reading;
  }

  start(): void {
    this.#next(0);
  }

  /** Ends after the page under way. */
  async close(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    await this.#ticking;
  }

  #next(delayMs: number): void {
    if (this.#stopping) return;
    this.#timer = setTimeout(() => {
      this.#ticking = this.#tick().then((busy) => this.#next(busy ? BUSY_MS : IDLE_MS));
    }, delayMs);
  }

  /** @returns whether there is probably more to do right away */
  async #tick(): Promise<boolean> {
    // Each separately: one that always fails must not prevent the others.
    const hadTemplates = await this.#quietly('templates', () => readTemplates(this.#reading));
    const hadGrants = await this.#quietly('grants', () => readGrants(this.#reading));
    const nowMs = this.#reading.clock.monotonicMs();
    if (nowMs - this.#dutiesAtMs >= DUTIES_EVERY_MS) {
      this.#dutiesAtMs = nowMs;
      await this.#quietly('duties', () => this.#duties());
    }
    return hadTemplates || hadGrants;
  }

  async #duties(): Promise<boolean> {
    await closeLeftOpen(this.#reading);
    const counts = await this.#reading.intents.countOpen();
    const { bonusOpenIntents } = this.#reading.metrics;
    bonusOpenIntents.reset();
    for (const { operator, kind, count } of counts) bonusOpenIntents.set({ operator, kind }, count);
    return false;
  }

  async #quietly(duty: string, work: () => Promise<boolean>): Promise<boolean> {
    try {
      return await work();
    } catch (error) {
      this.#reading.logger.warn({ err: error, duty }, 'bonus.read_back_failed');
      return false;
    }
  }
}
