import { createHash } from 'node:crypto';
import { GatewayError } from '../../domain/errors.ts';
import { LineSplitter } from '../../lib/lines.ts';
import { Slices } from '../../lib/slices.ts';
import type { DatabaseAddress } from '../../store/connection.ts';
import type { ListRow } from '../../store/reconciliation/compare-statement.ts';
import type {
  FoundDifference,
  NotedDifference,
} from '../../store/reconciliation/difference-item.ts';
import type { ReconciliationDifferences } from '../../store/reconciliation/differences.ts';
import type { DifferenceCounts } from '../../store/reconciliation/run-item.ts';
import type {
  BegunReconciliation,
  ReconciliationPlan,
  ReconciliationRuns,
} from '../../store/reconciliation/runs.ts';
import { SideTable } from '../../store/reconciliation/side-table.ts';
import type { ColumnNames } from './columns.ts';
import { type BetPair, differenceOf, FoundTally, Pairs } from './found.ts';
import { Incomparable } from './incomparable.ts';
import { listBytes } from './list-bytes.ts';
import { ListReader } from './list-reader.ts';
import type { ListLine, UnreadableLine } from './list-rows.ts';
import { listSource } from './list-source.ts';

/** Lines written at once: a short transaction, however slowly the list arrives. */
const WRITTEN_AT_ONCE = 10_000;
const NOTED_AT_ONCE = 1_000;
/** Kept of each kind, for people to resolve; those beyond are only counted. */
const KEPT_MAX = 50_000;
const ALIVE_EVERY_MS = 2_000;

export interface ReconciliationParts {
  /** For the list: a connection of its own. */
  readonly database: DatabaseAddress;
  readonly runs: ReconciliationRuns;
  readonly differences: ReconciliationDifferences;
  /** Breaks it off. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: RunProgress) => void;
}

export interface RunProgress {
  readonly state: 'reading' | 'comparing';
  readonly lines: number;
  /** After unpacking. */
  readonly bytes: number;
}

export interface ListOptions {
  readonly names: ColumnNames;
  /** It is read no further, packed or not. */
  readonly bytesMax: number;
}

/**
 * One comparison of the journal with a list: `read`, then `compare`. Each throws after it has put on
 * record why nothing could be compared: `Incomparable` where the list is to blame.
 */
export class ReconciliationRun {
  readonly #parts: ReconciliationParts;
  readonly #plan: ReconciliationPlan;
  readonly #begun: BegunReconciliation;
  readonly #side: SideTable;
  readonly #tally = new FoundTally();
  readonly #alive: NodeJS.Timeout;
  readonly #onAbort: () => void;
  #state: RunProgress['state'] = 'reading';
  #isOver = false;
  #broken: Error | undefined;
  #columns: readonly string[] = [];
  #lines = 0;
  #bytes = 0;
  #readable = 0;
  #firstUnreadable: UnreadableLine | undefined;
  #rows: ListRow[] = [];
  #found: NotedDifference[] = [];
  #kept = 0;

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
    this.#alive = setInterval(() => void this.#sayAlive(), ALIVE_EVERY_MS);
    this.#alive.unref();
    // Whatever it was doing fails, and tells.
    this.#onAbort = () => void side.close().catch(() => undefined);
    parts.signal.addEventListener('abort', this.#onAbort);
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE`; then nothing was begun */
  static async begin(
    parts: ReconciliationParts,
    plan: ReconciliationPlan,
  ): Promise<ReconciliationRun> {
    await parts.runs.failLost();
    const side = await SideTable.open(parts.database);
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
      // Lines that come to nothing are not waited for by anything else, be there millions of them.
      const slices = new Slices();
      for await (const chunk of listBytes(listSource(chunks, this.#parts.signal), bytesMax)) {
        this.#bytes += chunk.length;
        for (const line of splitter.take(chunk)) {
          this.#lines = line.number;
          this.#take(reader.take(line));
          if (slices.isOver()) await slices.next();
        }
        this.#columns = reader.columns;
        await this.#write(WRITTEN_AT_ONCE);
        this.#parts.onProgress?.(this.#progress());
      }
      for (const line of splitter.end()) {
        this.#lines = line.number;
        this.#take(reader.take(line));
      }
      this.#take(reader.end());
      this.#columns = reader.columns;
      await this.#write(1);
      if (this.#readable === 0) throw nothingReadable(this.#firstUnreadable);
    });
  }

  /** @returns the counts, once all that was found is on record */
  async compare(): Promise<DifferenceCounts> {
    return await this.#orFail(async () => {
      this.#state = 'comparing';
      this.#parts.onProgress?.(this.#progress());
      await this.#sayAlive();
      const pairs = new Pairs();
      let listed = this.#readable;
      const judge = (whole: readonly BetPair[]) => {
        for (const pair of whole) {
          listed -= Math.max(0, pair.copies - 1);
          const found = differenceOf(pair, this.#begun);
          if (found !== undefined) this.#keep(found);
        }
      };
      for await (const page of this.#side.compared({ ...this.#plan, ...this.#begun })) {
        judge(pairs.take(page));
        await this.#note(NOTED_AT_ONCE);
      }
      judge(pairs.end());
      await this.#note(1);
      const counts = this.#tally.counts(listed);
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
      this.#keep(
        { kind: 'unreadable', transactionId, ...nothing, line: number, reason: why },
        text,
      );
      if (transactionId === null) continue;
      const unsaid = { currency: null, stake: null, payout: null, state: null };
      this.#rows.push({ line: number, transactionId, isUnreadable: true, ...unsaid });
    }
  }

  #keep(found: FoundDifference, text?: string): void {
    if (this.#tally.add(found) > KEPT_MAX) return;
    const said = text === undefined ? {} : { said: digestOf(text) };
    this.#found.push({ ...found, ...said });
  }

  /** Writes what was read, once there is so much of it. */
  async #write(least: number): Promise<void> {
    this.#goOn();
    if (this.#rows.length >= least) {
      const rows = this.#rows;
      this.#rows = [];
      await this.#side.add(rows);
    }
    await this.#note(least === 1 ? 1 : NOTED_AT_ONCE);
  }

  async #note(least: number): Promise<void> {
    this.#goOn();
    while (this.#found.length >= least) {
      const { operatorId } = this.#plan;
      const found = this.#found.splice(0, NOTED_AT_ONCE);
      const fromPosition = this.#kept + 1;
      this.#kept += found.length;
      await this.#parts.differences.note({ id: this.id, operatorId }, found, fromPosition);
    }
  }

  #goOn(): void {
    this.#parts.signal.throwIfAborted();
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#isOver) throw takenForGone();
  }

  #progress(): RunProgress {
    return { state: this.#state, lines: this.#lines, bytes: this.#bytes };
  }

  async #sayAlive(): Promise<void> {
    try {
      const said = { id: this.id, columns: this.#columns, ...this.#progress() };
      if (!(await this.#parts.runs.noteProgress(said))) this.#isOver = true;
    } catch (error) {
      // Repeated soon; a process that cannot repeat it for a minute is taken for gone.
      if (error instanceof GatewayError) return;
      this.#broken ??= error instanceof Error ? error : new Error(String(error));
    }
  }

  async #orFail<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const isStopped = this.#parts.signal.aborted;
      await this.#failIfPossible(isStopped ? 'it was broken off' : whyOf(error));
      throw error;
    }
  }

  /** Records why it could not be compared; what was found until then is deleted. */
  async #failIfPossible(why: string): Promise<void> {
    await this.#close();
    try {
      await this.#parts.runs.fail(this.id, why);
    } catch (error) {
      // Whoever looks next finds it silent, and marks it as lost.
      if (!(error instanceof GatewayError)) throw error;
    }
  }

  async #close(): Promise<void> {
    clearInterval(this.#alive);
    this.#parts.signal.removeEventListener('abort', this.#onAbort);
    await this.#side.close();
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function nothingReadable(first: UnreadableLine | undefined): Incomparable {
  const why = first === undefined ? 'it has no lines' : `line ${first.line}: ${first.why}`;
  return new Incomparable(`no line of the list can be read (${why})`);
}

function takenForGone(): Incomparable {
  return new Incomparable('it was silent for too long and taken for gone: send the list again');
}

function whyOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Incomparable) return message;
  if (error instanceof GatewayError) return `${message}: send the list again`;
  return `something unforeseen: ${message}`;
}
