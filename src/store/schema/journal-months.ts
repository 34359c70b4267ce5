import type { Logger } from '../../telemetry/logger.ts';
import type { Database } from '../database.ts';
import { type Parameters, statement } from '../statement.ts';

/** Tables are there this many months before their first row. */
const MONTHS_AHEAD = 2;
/** What failed, such as by a lock, is done again long before it matters. */
const EVERY_MS = 3_600_000;

const PREPARE = statement(
  'journal-prepare-months',
  { months_ahead: ['int', ({ monthsAhead }) => monthsAhead] } satisfies Parameters<{
    readonly monthsAhead: number;
  }>,
  `
  SELECT coalesce(sum(journal_prepare_month(clock_timestamp() + make_interval(months => n))), 0)::int
         AS made
    FROM generate_series(0, :months_ahead) n`,
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
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  /** @returns how many tables were made. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async prepare(): Promise<number> {
    const [made] = await this.#database.run(PREPARE, { monthsAhead: MONTHS_AHEAD });
    return made ?? 0;
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
