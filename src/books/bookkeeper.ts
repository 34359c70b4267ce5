import type { Configuration } from '../config/schema.ts';
import type { Clock } from '../domain/clock.ts';
import { MOVEMENT_KINDS } from '../domain/movements.ts';
import { DIFFERENCE_KINDS } from '../domain/reconciliation.ts';
import { BooksJournal, type Runner } from '../store/books/books-journal.ts';
import { BooksTransaction } from '../store/books/books-transaction.ts';
import { BooksChecks } from '../store/books/checks.ts';
import { COUNT_UNRESOLVED_BETS } from '../store/books/unresolved.ts';
import { VIOLATION_RULES } from '../store/books/violations.ts';
import { ReconciliationRuns } from '../store/reconciliation/runs.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { closeDueDays } from './close-days.ts';
import { keepBooks } from './keep-books.ts';

/** With next to nothing to book it looks again after so long. */
const IDLE_MS = 250;
/** While much comes it lets more come together: half a dozen statements a look cost as much for a few. */
const BUSY_MS = 1_000;
const MUCH = 100;
/** Gauges are at most 5 s old (docs/contract.md, Metrics); days are closed no later than this. */
const DUTIES_EVERY_MS = 4_000;
/** Sums of whole days cost a look at all of their movements: the more there are, the rarer. */
const CHECK_DAYS_EVERY_MS = 60_000;
const CHECK_DAYS_SHARE = 1 / 20;

export interface Bookkeeping {
  readonly runner: Runner;
  /** For what holds the books: a connection of its own. */
  readonly databaseUrl: string;
  readonly configuration: () => Configuration;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Keeps the books behind the journal: books what wallets confirmed, closes days, checks both. Any
 * number of workers may do it at once; one books, the others find it booked.
 */
export class Bookkeeper {
  readonly #keeping: Bookkeeping;
  readonly #journal: BooksJournal;
  readonly #checks: BooksChecks;
  readonly #reconciliations: ReconciliationRuns;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> = Promise.resolve();
  #dutiesAtMs = Number.NEGATIVE_INFINITY;
  #daysDueAtMs = Number.NEGATIVE_INFINITY;
  #stopping = false;

  constructor(keeping: Bookkeeping) {
    this.#keeping = keeping;
    this.#journal = new BooksJournal(keeping.runner);
    this.#checks = new BooksChecks(keeping.runner);
    this.#reconciliations = new ReconciliationRuns(keeping.runner);
    // A gauge that is not there says nothing, and a counter's first step would show no increase.
    for (const rule of VIOLATION_RULES) keeping.metrics.booksViolations.set({ rule }, 0);
    for (const kind of MOVEMENT_KINDS) keeping.metrics.booksMovements.inc({ kind }, 0);
    for (const operator of keeping.configuration().operators.keys()) {
      keeping.metrics.booksStatements.inc({ operator }, 0);
    }
  }

  start(): void {
    this.#next(0);
  }

  /** Ends after the batch under way. */
  async close(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    await this.#ticking;
  }

  #next(delayMs: number): void {
    if (this.#stopping) return;
    this.#timer = setTimeout(() => {
      this.#ticking = this.#tick().then((pauseMs) => this.#next(pauseMs));
    }, delayMs);
  }

  /** @returns after how long to look again */
  async #tick(): Promise<number> {
    let pauseMs = IDLE_MS;
    // Each for itself: one that fails every time must not keep the others from being done.
    await this.#quietly('book', async () => {
      pauseMs = await this.#book();
    });
    const nowMs = this.#keeping.clock.monotonicMs();
    if (nowMs - this.#dutiesAtMs < DUTIES_EVERY_MS) return pauseMs;
    this.#dutiesAtMs = nowMs;
    await this.#quietly('unresolved', () => this.#countUnresolved());
    await this.#quietly('lag', () => this.#tellLag());
    await this.#quietly('close', () => this.#close());
    await this.#quietly('check_days', () => this.#checkDays(nowMs));
    await this.#quietly('check', () => this.#check());
    await this.#quietly('reconciliations', () => this.#lookAtReconciliations());
    return pauseMs;
  }

  async #book(): Promise<number> {
    const { configuration, metrics } = this.#keeping;
    const kept = await keepBooks(this.#journal, configuration().gateway.books.timeZone);
    if (kept.kind === 'overtaken') return IDLE_MS;
    for (const { kind } of kept.movements) metrics.booksMovements.inc({ kind });
    if (kept.kind === 'more') return 0;
    return kept.movements.length < MUCH ? IDLE_MS : BUSY_MS;
  }

  async #countUnresolved(): Promise<void> {
    const timeZone = await this.#timeZone();
    await BooksTransaction.run(this.#keeping.databaseUrl, false, (books) =>
      books.run(COUNT_UNRESOLVED_BETS, { operatorId: undefined, timeZone }),
    );
  }

  async #close(): Promise<void> {
    const { configuration, databaseUrl, logger, metrics, runner } = this.#keeping;
    const times = { ...configuration().gateway.books, timeZone: await this.#timeZone() };
    for (;;) {
      const { closed, held } = await closeDueDays(runner, databaseUrl, times);
      metrics.booksOverdue.set(held);
      for (const { operatorId, day } of closed) {
        metrics.booksStatements.inc({ operator: operatorId });
        logger.info({ operator: operatorId, day }, 'books.day_closed');
      }
      if (closed.length === 0 || this.#stopping) return;
    }
  }

  async #checkDays(nowMs: number): Promise<void> {
    if (nowMs < this.#daysDueAtMs) return;
    this.#daysDueAtMs = nowMs + CHECK_DAYS_EVERY_MS;
    let wrong = 0;
    for (const operatorId of await this.#checks.operatorsOfOpenDays()) {
      if (this.#stopping) break;
      // One with so many movements that its sums fail keeps no other from being checked.
      await this.#quietly('check_days', async () => {
        wrong += await this.#checks.checkDays(operatorId);
      });
    }
    this.#tellWrong(wrong);
    const tookMs = this.#keeping.clock.monotonicMs() - nowMs;
    this.#daysDueAtMs = nowMs + Math.max(CHECK_DAYS_EVERY_MS, tookMs / CHECK_DAYS_SHARE);
  }

  async #check(): Promise<void> {
    const { metrics } = this.#keeping;
    let wrong = 0;
    for (;;) {
      const checked = await this.#checks.checkBets();
      wrong += checked.wrong;
      if (checked.lookedAt === 0 || this.#stopping) break;
    }
    this.#tellWrong(wrong);
    const counts = new Map(
      (await this.#checks.violations()).map(({ rule, count }) => [rule, count]),
    );
    for (const rule of VIOLATION_RULES) {
      metrics.booksViolations.set({ rule }, counts.get(rule) ?? 0);
    }
  }

  /** Before all that takes long or fails: it is what an alarm looks at. */
  async #tellLag(): Promise<void> {
    this.#keeping.metrics.booksLag.set(await this.#checks.lagSeconds());
  }

  #tellWrong(wrong: number): void {
    if (wrong === 0) return;
    this.#keeping.logger.error({ wrong, why: 'see books_violations' }, 'books.violated');
  }

  /** Puts down those whose process is gone; shows what nobody has resolved of the newest. */
  async #lookAtReconciliations(): Promise<void> {
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
  }

  /** The first one that something was booked by; another one would make other days. */
  async #timeZone(): Promise<string> {
    const { timeZone } = this.#keeping.configuration().gateway.books;
    const { timeZone: kept } = await this.#journal.cursor();
    if (kept !== undefined && kept !== timeZone) {
      const note = 'the days stay those of the first until `wagergate books rebuild`';
      this.#keeping.logger.warn({ kept, configured: timeZone, note }, 'books.time_zone_differs');
    }
    return kept ?? timeZone;
  }

  async #quietly(duty: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#keeping.logger.warn({ err: error, duty }, 'books.duty_failed');
    }
  }
}
