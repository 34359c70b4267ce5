import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const CR = 0x0d;
const LF = 0x0a;

/** Facts about a connection, for its next or its latest request. */
interface Reading {
  /** The earliest time since when a new connection had waited. */
  waitedSinceMs: number | undefined;
  /** The arrival of the first byte of the next request. */
  firstByteMs: number | undefined;
  /** The latest request, and the arrival of its first byte. */
  last: IncomingMessage | undefined;
  lastFirstByteMs: number | undefined;
}

/**
 * The earliest time at which a request began to arrive: everything since then counts against its deadline,
 * including the time its connection waited to be accepted, and a head that arrives slowly (I1).
 */
export class RequestStarts {
  readonly #readings = new WeakMap<Socket, Reading>();

  /** @param sinceMs the earliest arrival of a new connection, on the monotonic clock */
  opened(socket: Socket, sinceMs: number): void {
    const reading = this.#of(socket);
    reading.waitedSinceMs = sinceMs;
    // Data that waited with it is read in the next turn of the event loop; later data did not wait.
    setImmediate(() =>
      setImmediate(() => {
        reading.waitedSinceMs = undefined;
      }),
    );
  }

  /** @param atMs the earliest arrival of these bytes; only a request's first bytes count */
  came(socket: Socket, bytes: Buffer, atMs: () => number): void {
    const reading = this.#of(socket);
    // Bytes of a body that is still arriving do not start the next request, even if it is already answered.
    const isBody = reading.last?.complete === false;
    if (isBody || reading.firstByteMs !== undefined || isBlank(bytes)) return;
    reading.firstByteMs = atMs();
  }

  /** A request's head is complete. Call it for every request, even one refused at once. */
  began(request: IncomingMessage): void {
    const reading = this.#of(request.socket);
    reading.last = request;
    reading.lastFirstByteMs = reading.firstByteMs;
    reading.firstByteMs = undefined;
  }

  /** The start of a request that has just begun, on the monotonic clock. */
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

/** Some clients send an extra line end after a body, which does not start a request. */
function isBlank(bytes: Buffer): boolean {
  return bytes.length <= 2 && bytes.every((byte) => byte === CR || byte === LF);
}
