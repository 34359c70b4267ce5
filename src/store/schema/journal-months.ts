import type { Logger } from '../../telemetry/logger.ts';
import type { Database } from '../database.ts';
import { type Parameters, statement } from '../statement.ts';

/** Tables are there this many months before their first row. */
const MONTHS_AHEAD = 2;
/** What failed, such as by a lock, is done again long before it matters. */
const EVERY_MS = 3_600_000;

const PREPARE = statement(
  'journal-prepare-month',
  { months: ['int', ({ months }) => months] } satisfies Parameters<{ readonly months: number }>,
  'SELECT journal_prepare_month(clock_timestamp() + make_interval(months => :months)) AS made',
  (row) => row.int('made'),
);

/**
 * Makes the tables of the coming months of the journal (operations and attempts are partitioned by
 * month, UTC). Where none is made in time, rows go to the tables `*_rest` and nothing is refused.
 * Any number of replicas may do it.
 */
export class JournalMonths {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #onTried: (missing: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();

  /**
   * @param database whose statements do not take long: rows that wait in `*_rest` move into their month's new table, and
   *   while that is being done, no callback writes
   * @param onTried told how many months have no table, as far as it knows
   */
  constructor(
    database: Database,
    logger: Logger,
    onTried: (missing: number) => void = () => undefined,
  ) {
    this.#database = database;
    this.#logger = logger;
    this.#onTried = onTried;
  }

  /**
   * Each month by itself: one that takes too long does not keep the others from being made.
   * @returns how many tables were made
   * @throws GatewayError `DATABASE_UNAVAILABLE`, of the first month that could not be made, once the others were tried
   */
  async prepare(): Promise<number> {
    let made = 0;
    const failures: unknown[] = [];
    for (let months = 0; months <= MONTHS_AHEAD; months += 1) {
      try {
        made += (await this.#database.run(PREPARE, { months }))[0] ?? 0;
      } catch (error) {
        failures.push(error);
      }
    }
    this.#onTried(failures.length);
    if (failures.length > 0) throw failures[0];
    return made;
  }

  /** From now on once an hour. */
  start(): void {
    this.#working = this.#prepareQuietly();
    this.#timer = setInterval(() => {
      this.#working = this.#prepareQuietly();
    }, EVERY_MS);
    this.#timer.unref();
  }

  /** Ends after the work under way. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#working;
  }

  async #prepareQuietly(): Promise<void> {
    try {
      const made = await this.prepare();
      if (made > 0) this.#logger.info({ tables: made }, 'journal.months_prepared');
    } catch (error) {
      this.#logger.warn({ err: error, note: 'retried in an hour' }, 'journal.months_not_prepared');
    }
  }
}
