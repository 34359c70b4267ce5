/** A statement that is not answered for so long may stand in a connection whose other end is gone. */
const SILENT_MS = 1_000;

/**
 * Which connections to a server may be used. Where a server's machine has lost its power, or a network forgets what
 * was connected, nobody is told: statements are sent into such connections, and nothing comes back. Once one statement
 * has waited long, only connections count that the server has answered on since.
 */
export class SilentConnections<Connection extends object> {
  readonly #now: () => number;
  readonly #answeredAtMs = new WeakMap<Connection, number>();
  /** What is under way, oldest first. */
  readonly #asked = new Set<{ readonly atMs: number }>();
  #doubtedBeforeMs = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The server has just answered on it. */
  answered(connection: Connection): void {
    this.#answeredAtMs.set(connection, this.#now());
  }

  /** Something is asked. @returns to be called when it has ended, however */
  ask(): () => void {
    const asked = { atMs: this.#now() };
    this.#asked.add(asked);
    return () => this.#asked.delete(asked);
  }

  /** Whether the other end of a connection that nobody uses may be gone: ask it first. */
  isDoubtful(connection: Connection): boolean {
    const [oldest] = this.#asked;
    if (oldest !== undefined && this.#now() - oldest.atMs >= SILENT_MS) {
      this.#doubtedBeforeMs = Math.max(this.#doubtedBeforeMs, oldest.atMs);
    }
    const answeredAtMs = this.#answeredAtMs.get(connection) ?? Number.NEGATIVE_INFINITY;
    return answeredAtMs < this.#doubtedBeforeMs;
  }
}
