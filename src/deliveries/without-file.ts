import type { OpenCount } from '../store/deliveries/backlog.ts';
import type { OpenCounts } from '../store/deliveries/backlog-counts.ts';
import type { Logger } from '../telemetry/logger.ts';

const NOTE =
  'operators/ has no file for it: its deliveries are held, and its bets wait, until the file is back';

/**
 * Logs what waits at an operator that has no file: if the file was removed by mistake, nothing else tells before a
 * rollback is overdue. Once for each operator and process, and again if the file returns and goes once more.
 */
export class WithoutFile {
  readonly #logger: Pick<Logger, 'error'>;
  readonly #isConfigured: (operator: string) => boolean;
  #told: ReadonlySet<string> = new Set();

  constructor(logger: Pick<Logger, 'error'>, isConfigured: (operator: string) => boolean) {
    this.#logger = logger;
    this.#isConfigured = isConfigured;
  }

  /** Leaves dead letters out: they wait for a person, with a file or without, and have an alert of their own. */
  tell({ live, waiting, unresolved }: OpenCounts): void {
    const open = [...live, ...waiting];
    const ids = new Set([...open, ...unresolved].map(({ operator }) => operator));
    const without = [...ids].filter((operator) => !this.#isConfigured(operator));
    for (const operator of without) {
      if (this.#told.has(operator)) continue;
      const counts = {
        openDeliveries: countOf(operator, open),
        unresolvedBets: countOf(operator, unresolved),
      };
      this.#logger.error({ operator, ...counts, note: NOTE }, 'operator.file_missing');
    }
    this.#told = new Set(without);
  }
}

function countOf(operator: string, counts: readonly OpenCount[]): number {
  return counts
    .filter((row) => row.operator === operator)
    .reduce((sum, { count }) => sum + count, 0);
}
