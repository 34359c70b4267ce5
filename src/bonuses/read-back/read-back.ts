import { closeLeftOpen, readGrants } from './read-grants.ts';
import { readTemplates } from './read-templates.ts';
import type { ReadingBack } from './reader.ts';

/** One page a tick: patient, so that the service is never pressed. */
const BUSY_MS = 200;
const IDLE_MS = 1_000;
/** The gauge is at most this old, and what a crash left half closed is closed. */
const DUTIES_EVERY_MS = 4_000;

/**
 * Finds out in the background what has become of calls that the service never answered, and keeps
 * the copies of templates fresh. Any number of processes may do it at once: each page is claimed in
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

  /** @returns whether there is likely more to do at once */
  async #tick(): Promise<boolean> {
    // Each for itself: one that fails every time must not keep the others from being done.
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
