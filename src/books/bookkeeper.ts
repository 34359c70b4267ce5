import type { Configuration } from '../config/schema/schema.ts';
import type { Clock } from '../domain/clock.ts';
import { DIFFERENCE_KINDS } from '../domain/reconciliation.ts';
import { FailureLines } from '../lib/failure-lines.ts';
import type { Loop } from '../lib/loop.ts';
import { BooksJournal, type Runner } from '../store/books/books-journal.ts';
import { BooksTransaction } from '../store/books/books-transaction.ts';
import { BooksChecks } from '../store/books/checks.ts';
import { DayChecks } from '../store/books/day-checks.ts';
import { StatementChecks } from '../store/books/statement-checks.ts';
import { Statements } from '../store/books/statements.ts';
import { countUnresolved } from '../store/books/unresolved.ts';
import { VIOLATION_RULES } from '../store/books/violations.ts';
import { ReconciliationRuns } from '../store/reconciliation/runs.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { checkDays } from './check-days.ts';
import { StatementRounds } from './check-statements.ts';
import { closeDueDays } from './close-days.ts';
import { dutyLoop, pausesOf } from './duty.ts';
import { keepBooks } from './keep-books.ts';
import { LagGauge } from './lag-gauge.ts';

/** With little to book, the next batch is read after this time. */
const IDLE_MS = 250;
/** Under load, wait for more entries: the six statements of a batch cost the same for a few rows. */
const BUSY_MS = 1_000;
const MUCH = 100;
/** Gauges are at most 5 s old (docs/reference.md, Metrics); days are closed no later than this. */
const DUTIES_EVERY_MS = 4_000;
/** Checking the sums of whole days reads all of their movements. */
const CHECK_DAYS_EVERY_MS = 60_000;
/** Closed days are read whole as well, some of them each time. */
const CHECK_STATEMENTS_EVERY_MS = 60_000;
/** The share of time for duties whose cost grows with the data; beyond it they run less often. */
const SHARE = 1 / 20;

export interface Bookkeeping {
  readonly runner: Runner;
  /** For a separate connection, used for everything that locks the books. */
  readonly databaseUrl: string;
  readonly configuration: () => Configuration;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Keeps the books up to date: books what wallets confirmed, closes days, checks both. Each duty has its own
 * loop; any number of workers may run it.
 */
export class Bookkeeper {
  readonly #keeping: Bookkeeping;
  readonly #failureLines: FailureLines;
  readonly #journal: BooksJournal;
  readonly #checks: BooksChecks;
  readonly #dayChecks: DayChecks;
  readonly #rounds: StatementRounds;
  readonly #reconciliations: ReconciliationRuns;
  readonly #lag: LagGauge;
  readonly #duties: readonly Loop[];
  /** The zone that the log says is not taken: two duties ask every four seconds, perhaps for years. */
  #reportedZone: string | undefined;
  #stopping = false;

  constructor(keeping: Bookkeeping) {
    this.#keeping = keeping;
    this.#failureLines = new FailureLines(keeping.clock);
    this.#lag = new LagGauge(keeping.metrics, keeping.clock);
    this.#journal = new BooksJournal(keeping.runner);
    this.#checks = new BooksChecks(keeping.runner);
    this.#dayChecks = new DayChecks(keeping.runner);
    this.#rounds = new StatementRounds({
      checks: new StatementChecks(keeping.runner),
      statements: new Statements(keeping.runner),
      clock: keeping.clock,
      isStopping: () => this.#stopping,
    });
    this.#reconciliations = new ReconciliationRuns(keeping.runner);
    this.#duties = [
      this.#duty('book', IDLE_MS, () => this.#book()),
      this.#duty('lag', DUTIES_EVERY_MS, () => this.#noteLag()),
      this.#every('unresolved', DUTIES_EVERY_MS, () => this.#countUnresolved()),
      this.#duty('close', DUTIES_EVERY_MS, () => this.#close()),
      this.#every('check_days', CHECK_DAYS_EVERY_MS, () => this.#checkDays()),
      this.#every('check_statements', CHECK_STATEMENTS_EVERY_MS, async () =>
        this.#printWrong(await this.#rounds.look()),
      ),
      this.#duty('check', DUTIES_EVERY_MS, () => this.#check()),
      this.#duty('reconciliations', DUTIES_EVERY_MS, () => this.#noteReconciliations()),
    ];
    // An absent gauge cannot be alerted on, and a counter that first appears at 1 shows no increase.
    for (const rule of VIOLATION_RULES) keeping.metrics.booksViolations.set({ rule }, 0);
  }

  start(): void {
    for (const duty of this.#duties) duty.start();
  }

  /** Stops, and resolves once the work in progress has ended. */
  async close(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#duties.map((duty) => duty.close()));
  }

  #duty(name: string, afterFailureMs: number, work: () => Promise<number>): Loop {
    const onFailure = (error: unknown) => this.#printFailed(error, name);
    return dutyLoop({ afterFailureMs, work, onFailure });
  }

  /** A duty run every `everyMs`, or less often if it takes more than `SHARE` of the time. */
  #every(name: string, everyMs: number, work: () => Promise<void>): Loop {
    const pauseAfter = pausesOf(everyMs, SHARE);
    return this.#duty(name, everyMs, async () => {
      const beganMs = this.#keeping.clock.monotonicMs();
      await work();
      return pauseAfter(this.#keeping.clock.monotonicMs() - beganMs);
    });
  }

  async #book(): Promise<number> {
    const { configuration } = this.#keeping;
    const kept = await keepBooks(this.#journal, configuration().gateway.books.timeZone);
    if (kept.kind === 'overtaken') return IDLE_MS;
    if (kept.kind === 'more') return 0;
    return kept.movements.length < MUCH ? IDLE_MS : BUSY_MS;
  }

  async #countUnresolved(): Promise<void> {
    const timeZone = await this.#timeZone();
    await BooksTransaction.prepared(this.#keeping.databaseUrl, (books) =>
      countUnresolved(books, { timeZone }),
    );
  }

  async #close(): Promise<number> {
    const { configuration, databaseUrl, logger, runner } = this.#keeping;
    const times = { ...configuration().gateway.books, timeZone: await this.#timeZone() };
    for (;;) {
      const { closed, failed } = await closeDueDays(runner, databaseUrl, times);
      for (const { operatorId, error } of failed) this.#printFailed(error, 'close', operatorId);
      for (const { operatorId, day } of closed) {
        logger.info({ operator: operatorId, day }, 'books.day_closed');
      }
      if (closed.length === 0 || this.#stopping) return DUTIES_EVERY_MS;
    }
  }

  async #checkDays(): Promise<void> {
    let wrong = 0;
    for (const operatorId of await this.#dayChecks.operators()) {
      if (this.#stopping) break;
      try {
        wrong += await checkDays(this.#dayChecks, operatorId, {
          isStopping: () => this.#stopping,
        });
      } catch (error) {
        // One operator's failure does not keep the others from being checked.
        this.#printFailed(error, 'check_days', operatorId);
      }
    }
    this.#printWrong(wrong);
  }

  async #check(): Promise<number> {
    const { metrics } = this.#keeping;
    const { wrong, isMore } = await this.#checks.checkBets();
    this.#printWrong(wrong);
    const counts = new Map(
      (await this.#checks.violations()).map(({ rule, count }) => [rule, count]),
    );
    for (const rule of VIOLATION_RULES) {
      metrics.booksViolations.set({ rule }, counts.get(rule) ?? 0);
    }
    return isMore ? 0 : DUTIES_EVERY_MS;
  }

  /** A duty of its own, so that the lag, which an alert uses, is current even if others are slow or fail. */
  async #noteLag(): Promise<number> {
    try {
      this.#lag.isNow(await this.#checks.lagSeconds());
    } catch (error) {
      this.#lag.isNotKnown();
      throw error;
    }
    return DUTIES_EVERY_MS;
  }

  #printWrong(wrong: number): void {
    if (wrong === 0) return;
    this.#keeping.logger.error({ wrong, why: 'see books_violations' }, 'books.violated');
  }

  /** Fails runs whose process has died; sets the gauge of unresolved differences of the newest runs. */
  async #noteReconciliations(): Promise<number> {
    const { logger, metrics } = this.#keeping;
    for (const id of await this.#reconciliations.failLost()) {
      logger.warn({ reconciliation: id }, 'reconciliation.lost');
    }
    const newest = await this.#reconciliations.newestOpen();
    metrics.reconciliationDifferences.reset();
    for (const { operator, open } of newest) {
      for (const kind of DIFFERENCE_KINDS) {
        metrics.reconciliationDifferences.set({ operator, kind }, open[kind]);
      }
    }
    return DUTIES_EVERY_MS;
  }

  /** The time zone of the first booking, which stays in use, because another would shift the days. */
  async #timeZone(): Promise<string> {
    const { timeZone } = this.#keeping.configuration().gateway.books;
    const { timeZone: kept = timeZone } = await this.#journal.cursor();
    const differing = kept === timeZone ? undefined : timeZone;
    if (differing !== undefined && differing !== this.#reportedZone) {
      const note = 'the days stay those of the first until `wagergate books rebuild`';
      this.#keeping.logger.warn({ kept, configured: timeZone, note }, 'books.time_zone_differs');
    }
    this.#reportedZone = differing;
    return kept;
  }

  #printFailed(error: unknown, duty: string, operator?: string): void {
    if (!this.#failureLines.next(`${duty} ${operator}`)) return;
    this.#keeping.logger.warn({ err: error, duty, operator }, 'books.duty_failed');
  }
}
