import type { IncomingMessage } from 'node:http';
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
  /** Of bytes that no request has begun with yet. */
  readonly #firstByteMs = new WeakMap<Socket, number>();
  /** Of requests that have begun. */
  readonly #startMs = new WeakMap<IncomingMessage, number>();
  readonly #last = new WeakMap<Socket, IncomingMessage>();

  /** @param sinceMs a new connection came no earlier than this, on the monotonic clock */
  opened(socket: Socket, sinceMs: number): void {
    this.#waitedSinceMs.set(socket, sinceMs);
    // What had waited with it is read in the next turn of the event loop, and what comes later did not wait.
    setImmediate(() => setImmediate(() => this.#waitedSinceMs.delete(socket)));
  }

  /** @param atMs when these bytes came, at the earliest; the first of a request count */
  came(socket: Socket, bytes: Buffer, atMs: () => number): void {
    // Of a body that still comes, whether or not its request is answered: the next one's time is its own.
    const isBody = this.#last.get(socket)?.complete === false;
    if (isBody || this.#firstByteMs.has(socket) || isBlank(bytes)) return;
    this.#firstByteMs.set(socket, atMs());
  }

  /** Its head is complete; to be told of every request, also of one that is refused at once. */
  began(request: IncomingMessage): void {
    const { socket } = request;
    const firstByteMs = this.#firstByteMs.get(socket);
    if (firstByteMs !== undefined) this.#startMs.set(request, firstByteMs);
    this.#firstByteMs.delete(socket);
    this.#last.set(socket, request);
  }

  /** Of a request that has just begun, on the monotonic clock. */
  sinceMs(request: IncomingMessage, nowMs: number): number {
    const startMs = this.#startMs.get(request) ?? nowMs;
    return Math.min(startMs, this.#waitedSinceMs.get(request.socket) ?? nowMs);
  }
}

/** Some senders end a body with a line of its own, which begins no request. */
function isBlank(bytes: Buffer): boolean {
  return bytes.length <= 2 && bytes.every((byte) => byte === CR || byte === LF);
}
