import { createHash } from 'node:crypto';
import type {
  FoundDifference,
  NotedDifference,
} from '../../store/reconciliation/difference-item.ts';
import type { ReconciliationDifferences } from '../../store/reconciliation/differences.ts';
import type { DifferenceCounts } from '../../store/reconciliation/run-item.ts';
import { FoundTally } from './found.ts';

const NOTED_AT_ONCE = 1_000;
/** How many of each kind are recorded for people to resolve; further ones are only counted. */
const KEPT_MAX = 50_000;

/** The differences found by a run: counted at once, and recorded in batches. */
export class NotedDifferences {
  readonly #differences: ReconciliationDifferences;
  readonly #run: { readonly id: string; readonly operatorId: string };
  readonly #goOn: () => void;
  readonly #tally = new FoundTally();
  #waiting: NotedDifference[] = [];
  #noted = 0;

  /** @param goOn called before each statement; throws if the run has to stop */
  constructor(
    differences: ReconciliationDifferences,
    run: { readonly id: string; readonly operatorId: string },
    goOn: () => void,
  ) {
    this.#differences = differences;
    this.#run = run;
    this.#goOn = goOn;
  }

  /** @param text the list's line, if nothing else distinguishes the difference from others */
  add(found: FoundDifference, text?: string): void {
    if (this.#tally.add(found) > KEPT_MAX) return;
    const said = text === undefined ? {} : { said: digestOf(text) };
    this.#waiting.push({ ...found, ...said });
  }

  /** Writes full batches only. @throws GatewayError, and what `goOn` throws */
  async noteMany(): Promise<void> {
    await this.#note(NOTED_AT_ONCE);
  }

  /** Writes all that is left. @throws GatewayError, and what `goOn` throws */
  async noteRest(): Promise<void> {
    await this.#note(1);
  }

  /** @param listed how many distinct transactionIds the list contains */
  counts(listed: number): DifferenceCounts {
    return this.#tally.counts(listed);
  }

  async #note(least: number): Promise<void> {
    while (this.#waiting.length >= least) {
      this.#goOn();
      const found = this.#waiting.splice(0, NOTED_AT_ONCE);
      const fromPosition = this.#noted + 1;
      this.#noted += found.length;
      await this.#differences.note(this.#run, found, fromPosition);
    }
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
