import type { Clock } from '../../domain/clock.ts';
import type { Database } from '../database.ts';
import type { PieceRow, PieceStatements } from './backlog-statements.ts';

/** How many entries one statement reads (about 50 ms): reading all may exceed the statement timeout. */
const PIECE_ROWS = 50_000;
/** An operator with fewer entries than this is counted completely at every look. */
const FIRST_ROWS = 10_000;
/** Limits of one look for continuing the counts of larger operators, all together. */
const FURTHER_PIECES_MAX = 12;
const FURTHER_MS = 500;

/** How many are open of one operator, operation and state. */
export interface OpenCount extends Omit<PieceRow, 'last'> {
  /** The count is a lower bound: counting has not reached the end yet. */
  readonly isAtLeast: boolean;
}

export interface BacklogLook {
  readonly counts: readonly OpenCount[];
  /** Why the large counts could not be continued; their previous numbers are shown. */
  readonly failure: { readonly error: unknown } | undefined;
}

export interface BacklogOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly pieces: PieceStatements;
  /** For tests. */
  readonly sizes?: Partial<BacklogSizes>;
}

interface BacklogSizes {
  readonly pieceRows: number;
  readonly firstRows: number;
  readonly furtherPiecesMax: number;
}

const SIZES: BacklogSizes = {
  pieceRows: PIECE_ROWS,
  firstRows: FIRST_ROWS,
  furtherPiecesMax: FURTHER_PIECES_MAX,
};

/** An operator's entries counted so far, starting with the first. */
class Counted {
  readonly #rows = new Map<string, PieceRow>();
  last = '';
  isMore = false;

  get size(): number {
    return this.rows.reduce((sum, { count }) => sum + count, 0);
  }

  get rows(): readonly PieceRow[] {
    return [...this.#rows.values()];
  }

  add(rows: readonly PieceRow[]): void {
    for (const row of rows) {
      const key = keyOf(row);
      const before = this.#rows.get(key);
      const count = (before?.count ?? 0) + row.count;
      this.#rows.set(key, { ...row, count, sinceMs: earlier(before?.sinceMs, row.sinceMs) });
      this.last = row.last;
    }
  }

  /** A copy to continue counting with, while this one stays as it is. */
  copy(): Counted {
    const copy = new Counted();
    copy.add(this.rows);
    // A row's own `last` is that of the piece it last appeared in, which may be an earlier piece.
    copy.last = this.last;
    return copy;
  }
}

/** A large operator's entries, counted piece by piece over several looks. */
interface Walk {
  /** The count in progress; undefined between the end of a walk and the next look. */
  counted: Counted | undefined;
  /** The result of the last completed walk. */
  whole: readonly PieceRow[] | undefined;
}

/**
 * Counts open entries, operator by operator, in pieces. Every look counts the first entries of each operator, which
 * is all of them unless its backlog is large. A large backlog is counted over several looks, a few pieces each,
 * taking turns with other large ones; until its count is complete, the previous total is shown or, the first
 * time, the number counted so far. However large one operator's backlog is, the others' numbers are
 * current (I7).
 */
export class Backlog {
  readonly #options: BacklogOptions;
  readonly #sizes: BacklogSizes;
  readonly #walks = new Map<string, Walk>();
  #looking: Promise<BacklogLook> | undefined;

  constructor(options: BacklogOptions) {
    this.#options = options;
    this.#sizes = { ...SIZES, ...options.sizes };
  }

  /**
   * Concurrent callers share one look.
   * @throws GatewayError `DATABASE_UNAVAILABLE` if not even each operator's first entries could be counted
   */
  look(): Promise<BacklogLook> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<BacklogLook> {
    const firsts = await this.#firstOfEach();
    for (const operator of this.#walks.keys()) {
      if (firsts.get(operator)?.isMore !== true) this.#walks.delete(operator);
    }
    for (const [operator, first] of firsts) {
      if (!first.isMore) continue;
      const walk = this.#walks.get(operator);
      if (walk === undefined)
        this.#walks.set(operator, { counted: first.copy(), whole: undefined });
      else walk.counted ??= first.copy();
    }
    const failure = await this.#goOn().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const counts = [...firsts].flatMap(([operator, first]) => this.#shown(operator, first));
    return { counts, failure };
  }

  async #firstOfEach(): Promise<ReadonlyMap<string, Counted>> {
    const { database, pieces } = this.#options;
    const { pieceRows: rows, firstRows } = this.#sizes;
    const firsts = new Map<string, Counted>();
    let piece = await database.run(pieces.beyond, { operator: '', rows });
    for (;;) {
      for (const [operator, own] of Map.groupBy(piece, (row) => row.operator)) {
        const first = firsts.get(operator) ?? new Counted();
        firsts.set(operator, first);
        first.add(own);
      }
      const operator = piece.at(-1)?.operator;
      const counted = operator === undefined ? undefined : firsts.get(operator);
      if (operator === undefined || counted === undefined || sizeOf(piece) < rows) return firsts;
      counted.isMore = counted.size >= firstRows;
      piece = counted.isMore
        ? await database.run(pieces.beyond, { operator, rows })
        : await database.run(pieces.after, { operator, after: counted.last, rows });
    }
  }

  /** Continues the large counts, by at least one piece, so that they complete on a slow server too. */
  async #goOn(): Promise<void> {
    const { clock } = this.#options;
    const untilMs = clock.monotonicMs() + FURTHER_MS;
    for (let pieces = 0; pieces < this.#sizes.furtherPiecesMax; pieces += 1) {
      const next = [...this.#walks].find(([, { counted }]) => counted !== undefined);
      if (next === undefined || (pieces > 0 && clock.monotonicMs() >= untilMs)) return;
      await this.#step(...next);
    }
  }

  async #step(operator: string, walk: Walk): Promise<void> {
    // To the end of the queue, even if this step fails: large operators take turns.
    this.#walks.delete(operator);
    this.#walks.set(operator, walk);
    const { database, pieces } = this.#options;
    const { counted } = walk;
    if (counted === undefined) return;
    const rows = this.#sizes.pieceRows;
    const piece = await database.run(pieces.after, { operator, after: counted.last, rows });
    const own = piece.filter((row) => row.operator === operator);
    counted.add(own);
    if (sizeOf(own) === rows) return;
    walk.whole = counted.rows;
    walk.counted = undefined;
  }

  #shown(operator: string, first: Counted): readonly OpenCount[] {
    const walk = this.#walks.get(operator);
    if (walk === undefined) return first.rows.map((row) => ({ ...row, isAtLeast: false }));
    const isAtLeast = walk.whole === undefined;
    const rows = walk.whole ?? walk.counted?.rows ?? [];
    // Ids grow with creation time: if there is a promise among the first entries, it is the oldest.
    const now = new Map(first.rows.map((row) => [keyOf(row), row]));
    const before = new Map(rows.map((row) => [keyOf(row), row]));
    return [...new Map([...now, ...before])].map(([key, row]) => {
      const sinceMs = now.get(key)?.sinceMs ?? row.sinceMs;
      return { ...row, sinceMs, nowMs: nowOf(first), isAtLeast };
    });
  }
}

function keyOf({ operation, state }: PieceRow): string {
  return `${operation} ${state}`;
}

function sizeOf(piece: readonly PieceRow[]): number {
  return piece.reduce((sum, { count }) => sum + count, 0);
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

function nowOf(first: Counted): number {
  return Math.max(...first.rows.map(({ nowMs }) => nowMs));
}
