/** If a statement is not answered for this long, the other end of its connection may be gone. */
const SILENT_MS = 1_000;

/**
 * Which connections to a server may be used. If a server's machine loses its power, or a network drops connections,
 * nobody is notified: statements are sent, and no answer comes. Once one statement has waited long, only connections
 * on which the server has answered since are trusted.
 */
export class SilentConnections<Connection extends object> {
  readonly #now: () => number;
  readonly #answeredAtMs = new WeakMap<Connection, number>();
  /** Statements under way, oldest first. */
  readonly #asked = new Set<{ readonly atMs: number }>();
  #doubtedBeforeMs = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Call it when the server has answered on a connection. */
  answered(connection: Connection): void {
    this.#answeredAtMs.set(connection, this.#now());
  }

  /** Call it when a statement is sent. @returns a function to call when it has ended, with whatever result */
  ask(): () => void {
    const asked = { atMs: this.#now() };
    this.#asked.add(asked);
    return () => this.#asked.delete(asked);
  }

  /** Whether the other end of an idle connection may be gone: it must be checked before use. */
  isDoubtful(connection: Connection): boolean {
    const [oldest] = this.#asked;
    if (oldest !== undefined && this.#now() - oldest.atMs >= SILENT_MS) {
      this.#doubtedBeforeMs = Math.max(this.#doubtedBeforeMs, oldest.atMs);
    }
    const answeredAtMs = this.#answeredAtMs.get(connection) ?? Number.NEGATIVE_INFINITY;
    return answeredAtMs < this.#doubtedBeforeMs;
  }
}
