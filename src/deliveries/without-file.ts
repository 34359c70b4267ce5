import type { OpenCount, OpenCounts } from '../store/deliveries/backlog.ts';
import type { Logger } from '../telemetry/logger.ts';

const NOTE =
  'operators/ has no file for it: its deliveries are held, and its bets wait, until the file is back';

/**
 * Logs what waits for an operator without a file: until a rollback is overdue, nothing else shows a mistaken removal.
 * Once per operator and process, and again after each new removal.
 */
export class WithoutFile {
  readonly #logger: Pick<Logger, 'error'>;
  readonly #hasFile: (operator: string) => boolean;
  #told: ReadonlySet<string> = new Set();

  constructor(logger: Pick<Logger, 'error'>, hasFile: (operator: string) => boolean) {
    this.#logger = logger;
    this.#hasFile = hasFile;
  }

  /** Ignores dead letters: they wait for a person anyway, and have their own alert. */
  tell({ live, waiting, unresolved }: OpenCounts): void {
    const open = [...live, ...waiting];
    const ids = new Set([...open, ...unresolved].map(({ operator }) => operator));
    const without = [...ids].filter((operator) => !this.#hasFile(operator));
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
