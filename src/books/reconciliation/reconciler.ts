import type { Configuration } from '../../config/schema/schema.ts';
import type { ReconciliationDifferences } from '../../store/reconciliation/differences.ts';
import type { ReconciliationPlan, ReconciliationRuns } from '../../store/reconciliation/runs.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { ColumnNames } from './columns.ts';
import { Incomparable, ListTooLarge } from './incomparable.ts';
import { ReconciliationRun } from './run.ts';

/** Each run holds a connection to PostgreSQL, and keeps it busy. */
const RUNS_MAX = 4;
const MEBIBYTE = 1_048_576;

interface ReconcilerParts {
  readonly databaseUrl: string;
  readonly runs: ReconciliationRuns;
  readonly differences: ReconciliationDifferences;
  readonly configuration: () => Configuration;
  readonly logger: Logger;
}

/** What happened to an uploaded list; `received` does not mean that it can be compared. */
export type ReceivedList =
  | { readonly kind: 'received'; readonly id: string }
  | { readonly kind: 'tooLarge'; readonly why: string }
  | { readonly kind: 'busy' }
  /** This process ends: another one can take the list, from its beginning. */
  | { readonly kind: 'stopping' };

/** Compares lists that arrive at the internal listener, a few at a time. */
export class Reconciler {
  readonly #parts: ReconcilerParts;
  readonly #stop = new AbortController();
  readonly #underWay = new Set<Promise<void>>();

  constructor(parts: ReconcilerParts) {
    this.#parts = parts;
  }

  /** Whether the operator is configured or has bets to compare with. */
  async knows(operatorId: string): Promise<boolean> {
    const { configuration, runs } = this.#parts;
    return configuration().operators.has(operatorId) || (await runs.hasBets(operatorId));
  }

  /** Reads a list to its end; the comparison continues afterwards. @throws GatewayError, or Error of `pg` */
  async receive(
    which: Omit<ReconciliationPlan, 'timeZone'>,
    names: ColumnNames,
    chunks: AsyncIterable<Buffer>,
  ): Promise<ReceivedList> {
    if (this.#stop.signal.aborted) return { kind: 'stopping' };
    if (this.#underWay.size >= RUNS_MAX) return { kind: 'busy' };
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#underWay.add(ended);
    const over = () => {
      this.#underWay.delete(ended);
      end();
    };
    let run: ReconciliationRun | undefined;
    try {
      run = await this.#begin(which);
      const { reconciliationMebibytesMax } = this.#parts.configuration().gateway.books;
      await run.read(chunks, { names, bytesMax: reconciliationMebibytesMax * MEBIBYTE });
    } catch (error) {
      over();
      if (this.#stop.signal.aborted) return { kind: 'stopping' };
      if (error instanceof ListTooLarge) return { kind: 'tooLarge', why: error.message };
      if (run === undefined || !(error instanceof Incomparable)) throw error;
      return { kind: 'received', id: run.id };
    }
    void this.#compare(run, which.operatorId).finally(over);
    return { kind: 'received', id: run.id };
  }

  /** Stops the runs in progress: they are recorded as failed. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#underWay);
  }

  async #begin(which: Omit<ReconciliationPlan, 'timeZone'>): Promise<ReconciliationRun> {
    const { configuration, databaseUrl, runs, differences } = this.#parts;
    const timeZone = (await runs.booksTimeZone()) ?? configuration().gateway.books.timeZone;
    const parts = { databaseUrl, runs, differences, signal: this.#stop.signal };
    return await ReconciliationRun.begin(parts, { ...which, timeZone });
  }

  async #compare(run: ReconciliationRun, operator: string): Promise<void> {
    const { logger } = this.#parts;
    try {
      const counts = await run.compare();
      logger.info({ operator, reconciliation: run.id, counts }, 'reconciliation.done');
    } catch (error) {
      // The run has recorded the reason, unless PostgreSQL is down.
      logger.warn({ err: error, operator, reconciliation: run.id }, 'reconciliation.failed');
    }
  }
}
