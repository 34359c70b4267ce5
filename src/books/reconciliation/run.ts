import { GatewayError } from '../../domain/errors.ts';
import { errorMessage } from '../../lib/faults.ts';
import { LineSplitter } from '../../lib/lines.ts';
import { Slices } from '../../lib/slices.ts';
import type { ListRow } from '../../store/reconciliation/compare-statement.ts';
import type { ReconciliationDifferences } from '../../store/reconciliation/differences.ts';
import type { DifferenceCounts } from '../../store/reconciliation/run-item.ts';
import type {
  BegunReconciliation,
  ReconciliationPlan,
  ReconciliationRuns,
} from '../../store/reconciliation/runs.ts';
import { SideTable } from '../../store/reconciliation/side-table.ts';
import type { ColumnNames } from './columns.ts';
import { type BetPair, differenceOf, Pairs } from './found.ts';
import { Heartbeat, takenForGone } from './heartbeat.ts';
import { Incomparable } from './incomparable.ts';
import { listBytes } from './list-bytes.ts';
import { ListReader } from './list-reader.ts';
import type { ListLine, UnreadableLine } from './list-rows.ts';
import { listSource } from './list-source.ts';
import { NotedDifferences } from './noted-differences.ts';

/** Lines per write: transactions stay short, however slowly the list arrives. */
const WRITTEN_AT_ONCE = 10_000;

export interface ReconciliationParts {
  /** For a separate connection, which holds the list. */
  readonly databaseUrl: string;
  readonly runs: ReconciliationRuns;
  readonly differences: ReconciliationDifferences;
  /** Aborts the run. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: RunProgress) => void;
}

export interface RunProgress {
  readonly state: 'reading' | 'comparing';
  readonly lines: number;
  /** After decompression. */
  readonly bytes: number;
}

export interface ListOptions {
  readonly names: ColumnNames;
  /** Limit for both the compressed and the decompressed size. */
  readonly bytesMax: number;
}

/** One comparison with a list: `read`, then `compare`. Each throws after recording why it failed. */
export class ReconciliationRun {
  readonly #parts: ReconciliationParts;
  readonly #plan: ReconciliationPlan;
  readonly #begun: BegunReconciliation;
  readonly #side: SideTable;
  readonly #found: NotedDifferences;
  readonly #heartbeat = new Heartbeat(() => this.#noteProgress());
  readonly #onAbort: () => void;
  #state: RunProgress['state'] = 'reading';
  #columns: readonly string[] = [];
  #lines = 0;
  #bytes = 0;
  #readable = 0;
  #firstUnreadable: UnreadableLine | undefined;
  /** Rows read but not written yet. */
  #rows: ListRow[] = [];

  private constructor(
    parts: ReconciliationParts,
    plan: ReconciliationPlan,
    begun: BegunReconciliation,
    side: SideTable,
  ) {
    this.#parts = parts;
    this.#plan = plan;
    this.#begun = begun;
    this.#side = side;
    const { operatorId } = plan;
    this.#found = new NotedDifferences(parts.differences, { id: begun.id, operatorId }, () =>
      this.#goOn(),
    );
    // Closing the connection makes the statement in progress fail, which ends the run.
    this.#onAbort = () => void side.close().catch(() => undefined);
    parts.signal.addEventListener('abort', this.#onAbort);
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE`; then no run was recorded */
  static async begin(
    parts: ReconciliationParts,
    plan: ReconciliationPlan,
  ): Promise<ReconciliationRun> {
    await parts.runs.failLost();
    const side = await SideTable.open(parts.databaseUrl);
    try {
      return new ReconciliationRun(parts, plan, await parts.runs.begin(plan), side);
    } catch (error) {
      await side.close();
      throw error;
    }
  }

  get id(): string {
    return this.#begun.id;
  }

  async read(chunks: AsyncIterable<Buffer>, { names, bytesMax }: ListOptions): Promise<void> {
    await this.#orFail(async () => {
      const splitter = new LineSplitter();
      const reader = new ListReader(names);
      // Millions of lines without a write in between would otherwise block the process.
      const slices = new Slices();
      for await (const chunk of listBytes(listSource(chunks, this.#parts.signal), bytesMax)) {
        this.#bytes += chunk.length;
        for (const line of splitter.take(chunk)) {
          this.#lines = line.number;
          this.#take(reader.take(line));
          if (slices.isOver()) await slices.next();
        }
        this.#columns = reader.columns;
        this.#goOn();
        if (this.#rows.length >= WRITTEN_AT_ONCE) await this.#write();
        await this.#found.noteMany();
        this.#parts.onProgress?.(this.#progress());
      }
      for (const line of splitter.end()) {
        this.#lines = line.number;
        this.#take(reader.take(line));
      }
      this.#take(reader.end());
      this.#columns = reader.columns;
      await this.#write();
      await this.#found.noteRest();
      if (this.#readable === 0) throw nothingReadable(this.#firstUnreadable);
    });
  }

  /** @returns the counts, once all differences are recorded */
  async compare(): Promise<DifferenceCounts> {
    return await this.#orFail(async () => {
      this.#state = 'comparing';
      this.#parts.onProgress?.(this.#progress());
      await this.#heartbeat.beat();
      const pairs = new Pairs();
      let listed = this.#readable;
      const judge = (whole: readonly BetPair[]) => {
        for (const pair of whole) {
          listed -= Math.max(0, pair.copies - 1);
          const found = differenceOf(pair, this.#begun);
          if (found !== undefined) this.#found.add(found);
        }
      };
      for await (const page of this.#side.compared({ ...this.#plan, ...this.#begun })) {
        judge(pairs.take(page));
        this.#goOn();
        await this.#found.noteMany();
      }
      judge(pairs.end());
      await this.#found.noteRest();
      const counts = this.#found.counts(listed);
      if (!(await this.#parts.runs.finish(this.id, counts))) throw takenForGone();
      await this.#close();
      return counts;
    });
  }

  #take(lines: readonly ListLine[]): void {
    for (const line of lines) {
      if ('row' in line) {
        this.#rows.push(line.row);
        this.#readable += 1;
        continue;
      }
      this.#firstUnreadable ??= line.unreadable;
      const { line: number, transactionId, why, text } = line.unreadable;
      const nothing = { here: null, there: null };
      this.#found.add(
        { kind: 'unreadable', transactionId, ...nothing, line: number, reason: why },
        text,
      );
      if (transactionId === null) continue;
      const nothingListed = { currency: null, stake: null, payout: null, state: null };
      this.#rows.push({ line: number, transactionId, isUnreadable: true, ...nothingListed });
    }
  }

  /** Writes the rows read so far. */
  async #write(): Promise<void> {
    this.#goOn();
    const rows = this.#rows;
    this.#rows = [];
    if (rows.length > 0) await this.#side.add(rows);
  }

  #goOn(): void {
    this.#parts.signal.throwIfAborted();
    this.#heartbeat.check();
  }

  #progress(): RunProgress {
    return { state: this.#state, lines: this.#lines, bytes: this.#bytes };
  }

  async #noteProgress(): Promise<boolean> {
    const said = { id: this.id, columns: this.#columns, ...this.#progress() };
    return await this.#parts.runs.noteProgress(said);
  }

  async #orFail<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const isStopped = this.#parts.signal.aborted;
      await this.#failIfPossible(
        isStopped ? 'it was broken off: send the list again' : whyOf(error),
      );
      throw error;
    }
  }

  /** Records why the comparison failed; the differences found so far are deleted. */
  async #failIfPossible(why: string): Promise<void> {
    await this.#close();
    try {
      await this.#parts.runs.fail(this.id, why);
    } catch (error) {
      // Its heartbeat has stopped, so another process will mark it as lost.
      if (!(error instanceof GatewayError)) throw error;
    }
  }

  async #close(): Promise<void> {
    this.#heartbeat.stop();
    this.#parts.signal.removeEventListener('abort', this.#onAbort);
    await this.#side.close();
  }
}

function nothingReadable(first: UnreadableLine | undefined): Incomparable {
  const why = first === undefined ? 'it has no lines' : `line ${first.line}: ${first.why}`;
  return new Incomparable(`no line of the list can be read (${why})`);
}

function whyOf(error: unknown): string {
  const message = errorMessage(error);
  if (error instanceof Incomparable) return message;
  if (error instanceof GatewayError) return `${message}: send the list again`;
  return `something unforeseen: ${message}`;
}
