/** The server that a connection leads to. */
export interface ServerFound {
  /** When it was started, in epoch seconds: another time means it was restarted, or is another server. */
  readonly startedAt: string;
  readonly isStandby: boolean;
}

interface Found {
  readonly startedAt: string;
  /** How many changes of the server had been seen by then. */
  readonly changes: number;
  /** How many doubts there had been. */
  readonly doubts: number;
}

/**
 * Which connections still lead to the server that the address leads to now. A failover need not end those to the old
 * primary: if it goes on, cut off only from its standby and its supervisor, it still answers reads from what it knew.
 */
export class ServerRuns {
  #startedAt: string | undefined;
  #changes = 0;
  #doubts = 0;
  readonly #found = new WeakMap<object, Found>();

  /**
   * Notes where a new connection leads. A standby does not replace the primary before it takes writes.
   * @param asOf `doubts` before it was checked
   */
  found(connection: object, { startedAt, isStandby }: ServerFound, asOf = this.#doubts): void {
    if (!isStandby && startedAt !== this.#startedAt) {
      this.#startedAt = startedAt;
      this.#changes += 1;
    }
    this.#found.set(connection, { startedAt, changes: this.#changes, doubts: asOf });
  }

  /**
   * Whether a later connection has found that the address leads to another server than this one does. Never true for
   * the latest connection: it is used wherever it leads.
   */
  isLeft(connection: object): boolean {
    const found = this.#found.get(connection);
    if (found === undefined) return false;
    return found.changes < this.#changes && found.startedAt !== this.#startedAt;
  }

  /**
   * A new connection was refused because of where it leads. The older ones may lead there too by now: behind a pooler they
   * go wherever it goes.
   */
  doubt(): void {
    this.#doubts += 1;
  }

  /** Whether a connection has to be checked again before it is used (`trust`). */
  isDoubted(connection: object): boolean {
    if (this.#doubts === 0) return false;
    const found = this.#found.get(connection);
    return found !== undefined && found.doubts < this.#doubts;
  }

  /** How often there was a doubt. To be read before a check: one that comes while it runs came after its answer, maybe. */
  get doubts(): number {
    return this.#doubts;
  }

  /**
   * It was checked, and leads where it should.
   * @param asOf `doubts` before that
   */
  trust(connection: object, asOf: number): void {
    const found = this.#found.get(connection);
    if (found !== undefined) this.#found.set(connection, { ...found, doubts: asOf });
  }
}
