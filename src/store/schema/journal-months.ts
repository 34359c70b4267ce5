import type { Logger } from '../../telemetry/logger.ts';
import type { Database } from '../database.ts';
import { named } from '../sql/named.ts';
import { statement } from '../sql/statement.ts';

/** Tables are created this many months before their first row. */
const MONTHS_AHEAD = 2;
const EVERY_MS = 3_600_000;
/**
 * A failure is mostly a passing lock. Rows gather in `*_rest` meanwhile, and each try may hold up callbacks for
 * a second: so the pauses grow, up to the hour.
 */
const AFTER_FAILURE_MS = 5_000;
const SLOWER_EACH_TIME = 4;

const PREPARE = statement(
  'journal-prepare-month',
  named({ months: 'int' }),
  'SELECT journal_prepare_month(clock_timestamp() + make_interval(months => :months)) AS made',
  (row) => row.int('made'),
);

/**
 * Creates the tables for the coming months (operations and attempts are partitioned by month, UTC). Rows without
 * one go to `*_rest`. Any number of replicas may do it.
 */
export class JournalMonths {
  readonly #database: Database;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = AFTER_FAILURE_MS;
  #isClosed = false;
  #working: Promise<void> = Promise.resolve();

  /** @param database with a short time limit: while `*_rest` rows are moved, no callback can write */
  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /**
   * Creates each month's tables separately. @returns how many were created
   * @throws GatewayError of the first month that failed, after the others were tried
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
    if (failures.length > 0) throw failures[0];
    return made;
  }

  /** Prepares at once and then every hour; sooner after a failure. */
  start(): void {
    this.#working = this.#prepareOrLog().then((nextInMs) => {
      if (this.#isClosed) return;
      this.#timer = setTimeout(() => this.start(), nextInMs);
      this.#timer.unref();
    });
  }

  /** Ends after the work under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#working;
  }

  /** @returns after how many milliseconds to prepare again */
  async #prepareOrLog(): Promise<number> {
    try {
      const made = await this.prepare();
      if (made > 0) this.#logger.info({ tables: made }, 'journal.months_prepared');
      this.#pauseMs = AFTER_FAILURE_MS;
      return EVERY_MS;
    } catch (error) {
      const retryInMs = Math.min(this.#pauseMs, EVERY_MS);
      this.#pauseMs = retryInMs * SLOWER_EACH_TIME;
      this.#logger.warn({ err: error, retryInMs }, 'journal.months_not_prepared');
      return retryInMs;
    }
  }
}
