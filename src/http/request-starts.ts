import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const CR = 0x0d;
const LF = 0x0a;

/** What is known of a connection, for the request that it brings next or has just brought. */
interface Reading {
  /** Since when it had waited, at the earliest, while this process has just got it. */
  waitedSinceMs: number | undefined;
  /** Of bytes that no request has begun with yet. */
  firstByteMs: number | undefined;
  /** The request that has begun last, and its first byte. */
  last: IncomingMessage | undefined;
  lastFirstByteMs: number | undefined;
}

/**
 * Since when the request has been coming that is read from a connection, at the earliest: all of it counts
 * against its deadline, also what its connection waited to be accepted, and a head that comes slowly (I1).
 */
export class RequestStarts {
  readonly #readings = new WeakMap<Socket, Reading>();

  /** @param sinceMs a new connection came no earlier than this, on the monotonic clock */
  opened(socket: Socket, sinceMs: number): void {
    const reading = this.#of(socket);
    reading.waitedSinceMs = sinceMs;
    // What had waited with it is read in the next turn of the event loop, and what comes later did not wait.
    setImmediate(() =>
      setImmediate(() => {
        reading.waitedSinceMs = undefined;
      }),
    );
  }

  /** @param atMs when these bytes came, at the earliest; the first of a request count */
  came(socket: Socket, bytes: Buffer, atMs: () => number): void {
    const reading = this.#of(socket);
    // Of a body that still comes, whether or not its request is answered: the next one's time is its own.
    const isBody = reading.last?.complete === false;
    if (isBody || reading.firstByteMs !== undefined || isBlank(bytes)) return;
    reading.firstByteMs = atMs();
  }

  /** Its head is complete; to be told of every request, also of one that is refused at once. */
  began(request: IncomingMessage): void {
    const reading = this.#of(request.socket);
    reading.last = request;
    reading.lastFirstByteMs = reading.firstByteMs;
    reading.firstByteMs = undefined;
  }

  /** Of a request that has just begun, on the monotonic clock. */
  sinceMs(request: IncomingMessage, nowMs: number): number {
    const { last, lastFirstByteMs, waitedSinceMs } = this.#of(request.socket);
    const startMs = last === request ? (lastFirstByteMs ?? nowMs) : nowMs;
    return Math.min(startMs, waitedSinceMs ?? nowMs);
  }

  #of(socket: Socket): Reading {
    const known = this.#readings.get(socket);
    if (known !== undefined) return known;
    const reading = {
      waitedSinceMs: undefined,
      firstByteMs: undefined,
      last: undefined,
      lastFirstByteMs: undefined,
    };
    this.#readings.set(socket, reading);
    return reading;
  }
}

/** Some senders end a body with a line of its own, which begins no request. */
function isBlank(bytes: Buffer): boolean {
  return bytes.length <= 2 && bytes.every((byte) => byte === CR || byte === LF);
}
