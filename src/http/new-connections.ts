import type { Socket } from 'node:net';

/** Since when the connections have waited that this process has just got. */
export class NewConnections {
  readonly #sinceMs = new WeakMap<Socket, number>();

  /** @param sinceMs it came no earlier than this, on the monotonic clock */
  add(socket: Socket, sinceMs: number): void {
    this.#sinceMs.set(socket, sinceMs);
    // What had waited with it is read in the next turn of the event loop, and what comes later did not wait.
    setImmediate(() => setImmediate(() => this.#sinceMs.delete(socket)));
  }

  /** @returns when it came at the earliest, while its first request is read */
  sinceMs(socket: Socket): number | undefined {
    return this.#sinceMs.get(socket);
  }
}
