/** At most this many rows per statement: more cost latency and gain nothing. */
const ROWS_MAX = 256;
/** A statement gets no further rows beyond this size, since it is in memory several times while it is sent. */
const BYTES_MAX = 2 * 1024 * 1024;
/** Another statement is begun only beside those in flight for this long: two at once cost more for the same rows. */
const BESIDE_MS = 3;
/** A statement in flight for longer may be on a dead connection: at most `SLOW_MAX` do not count as running. */
const SLOW_MS = 1_000;
const SLOW_MAX = 6;

/** How long a statement has been in flight: less than `BESIDE_MS`, or more than `SLOW_MS`, or between. */
type Age = 'young' | 'old' | 'slow';

interface Waiting<Row, Result> {
  readonly row: Row;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  /** Called just before the row is sent: the row of a caller that gave up must not be written. */
  readonly isWanted: () => boolean;
}

export interface BatcherOptions<Row, Result> {
  /** Statements in flight at once; further rows accumulate meanwhile. */
  readonly concurrency: number;
  /** Rows waiting beyond this are refused at once. */
  readonly waitingMax: number;
  /** Writes the rows in one statement; results in the rows' order. Must be safe to repeat. */
  readonly run: (rows: readonly Row[]) => Promise<readonly Result[]>;
  /** The size of a row in bytes; default: 0. */
  readonly bytesOf?: (row: Row) => number;
  /** Whether an error may be caused by a single row, so that the rows are retried one by one. */
  readonly isRowError: (error: unknown) => boolean;
  /** What a refused or unwanted row is rejected with. */
  readonly refused: (why: string) => Error;
}

/**
 * Group commit by back-pressure: what arrives in one turn goes out when the previous statement has ended, or has
 * run for `BESIDE_MS`. No row waits by a timer: even 1 ms costs half the throughput.
 */
export class Batcher<Row, Result> {
  readonly #options: BatcherOptions<Row, Result>;
  #waiting: Waiting<Row, Result>[] = [];
  #running = 0;
  /** How many running statements are younger than `BESIDE_MS`. */
  #young = 0;
  /** How many running statements are slow. */
  #slow = 0;
  #scheduled = false;

  constructor(options: BatcherOptions<Row, Result>) {
    this.#options = options;
  }

  /** @param isWanted false once the caller has given up @throws what `refused` makes for an unwanted or excess row */
  add(row: Row, isWanted: () => boolean = () => true): Promise<Result> {
    if (this.#waiting.length >= this.#options.waitingMax) {
      return Promise.reject(this.#options.refused('too many writes wait'));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ row, resolve, reject, isWanted });
    this.#schedule();
    return promise;
  }

  #schedule(): void {
    if (this.#scheduled || !this.#isFree) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  get #isFree(): boolean {
    if (this.#young > 0) return false;
    return this.#running - Math.min(this.#slow, SLOW_MAX) < this.#options.concurrency;
  }

  #flush(): void {
    while (this.#isFree && this.#waiting.length > 0) {
      const batch = this.#take();
      if (batch.length > 0) this.#begin(batch);
    }
  }

  #begin(batch: readonly Waiting<Row, Result>[]): void {
    this.#running += 1;
    this.#young += 1;
    let age: Age = 'young';
    let timer = setTimeout(() => {
      age = 'old';
      this.#young -= 1;
      this.#scheduleWaiting();
      timer = setTimeout(() => {
        age = 'slow';
        this.#slow += 1;
        this.#scheduleWaiting();
      }, SLOW_MS - BESIDE_MS).unref();
    }, BESIDE_MS).unref();
    void this.#write(batch).finally(() => {
      clearTimeout(timer);
      this.#running -= 1;
      if (age === 'young') this.#young -= 1;
      if (age === 'slow') this.#slow -= 1;
      this.#scheduleWaiting();
    });
  }

  #scheduleWaiting(): void {
    if (this.#waiting.length > 0) this.#schedule();
  }

  #take(): Waiting<Row, Result>[] {
    const wanted: Waiting<Row, Result>[] = [];
    const { bytesOf = () => 0, refused } = this.#options;
    let bytes = 0;
    let taken = 0;
    for (const waiting of this.#waiting) {
      if (taken === ROWS_MAX || bytes >= BYTES_MAX) break;
      taken += 1;
      if (waiting.isWanted()) {
        wanted.push(waiting);
        bytes += bytesOf(waiting.row);
      } else waiting.reject(refused('given up before it was written'));
    }
    this.#waiting.splice(0, taken);
    return wanted;
  }

  async #write(batch: readonly Waiting<Row, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map((waiting) => waiting.row));
      batch.forEach((waiting, index) => {
        const result = results[index];
        if (result === undefined) waiting.reject(new Error('a batch returned too few results'));
        else waiting.resolve(result);
      });
    } catch (error) {
      if (batch.length > 1 && this.#options.isRowError(error)) {
        // One poison row must not fail 255 others.
        for (const waiting of batch) await this.#write([waiting]);
        return;
      }
      for (const waiting of batch) waiting.reject(error);
    }
  }
}
