/** A server as a connection finds it. */
export interface ServerFound {
  /** When it was started, in epoch seconds: another time is another run of it, or another server. */
  readonly startedAt: string;
  readonly isStandby: boolean;
}

interface Found {
  readonly startedAt: string;
  /** How many other servers had been found by then. */
  readonly changes: number;
}

/**
 * Which connections lead to the server that the address leads to now. A failover need not end those to the primary
 * before: where that one goes on, cut off only from its standby and from whoever watches over it, it still answers
 * reads, by what it knew.
 */
export class ServerRuns {
  #startedAt: string | undefined;
  #changes = 0;
  readonly #found = new WeakMap<object, Found>();

  /** A new connection leads to this server. A standby takes nobody's place before it takes writes. */
  found(connection: object, { startedAt, isStandby }: ServerFound): void {
    if (!isStandby && startedAt !== this.#startedAt) {
      this.#startedAt = startedAt;
      this.#changes += 1;
    }
    this.#found.set(connection, { startedAt, changes: this.#changes });
  }

  /**
   * Whether a later connection has found that the address leads to another server than this one does. Never of the
   * latest: wherever the address leads, it is used.
   */
  isLeft(connection: object): boolean {
    const found = this.#found.get(connection);
    if (found === undefined) return false;
    return found.changes < this.#changes && found.startedAt !== this.#startedAt;
  }
}
