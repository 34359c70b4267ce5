import type { Socket } from 'node:net';

const CR = 0x0d;
const LF = 0x0a;

/**
 * Since when the request has been coming that is read from a connection, at the earliest: all of it counts
 * against its deadline, also what its connection waited to be accepted, and a head that comes slowly (I1).
 */
export class RequestStarts {
  /** Of connections that this process has just got. */
  readonly #waitedSinceMs = new WeakMap<Socket, number>();
  /** Of the request that is not answered yet. */
  readonly #firstByteMs = new WeakMap<Socket, number>();

  /** @param sinceMs a new connection came no earlier than this, on the monotonic clock */
  opened(socket: Socket, sinceMs: number): void {
    this.#waitedSinceMs.set(socket, sinceMs);
    // What had waited with it is read in the next turn of the event loop, and what comes later did not wait.
    setImmediate(() => setImmediate(() => this.#waitedSinceMs.delete(socket)));
  }

  /** @param atMs when these bytes came, at the earliest; the first of a request count */
  came(socket: Socket, bytes: Buffer, atMs: () => number): void {
    if (this.#firstByteMs.has(socket) || isBlank(bytes)) return;
    this.#firstByteMs.set(socket, atMs());
  }

  /** What comes from now on begins the next request. */
  answered(socket: Socket): void {
    this.#firstByteMs.delete(socket);
  }

  /** Of the request whose head is complete now, on the monotonic clock. */
  sinceMs(socket: Socket, nowMs: number): number {
    const firstByteMs = this.#firstByteMs.get(socket) ?? nowMs;
    return Math.min(firstByteMs, this.#waitedSinceMs.get(socket) ?? nowMs);
  }
}

/** Some senders end a body with a line of its own, which begins no request. */
function isBlank(bytes: Buffer): boolean {
  return bytes.length <= 2 && bytes.every((byte) => byte === CR || byte === LF);
}
