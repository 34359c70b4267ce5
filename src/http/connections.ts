import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../domain/clock.ts';

/** What strangers may hold of one process (`http` in gateway.yaml). */
export interface ConnectionLimits {
  readonly maxConnections: number;
  /** How long a connection may stay idle that no signed request has come on yet. */
  readonly strangerIdleMs: number;
  /** Bytes of all bodies that have begun to arrive and not ended. */
  readonly arrivingBytesMax: number;
}

/** Why a connection was closed from this side. */
export type Closed = 'idle' | 'full' | 'memory';

export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly limits: () => ConnectionLimits;
  readonly onClosed: (why: Closed) => void;
}

/** How often idle strangers are looked for. */
const SWEEP_MS = 500;

/** What a piece of a body takes beside its bytes: many small ones weigh more than they hold. */
const PIECE_OVERHEAD_BYTES = 256;

/** A body up to this long is taken from anybody: no callback of the service comes near it. */
const SHORT_BODY_BYTES = 16 * 1024;

/**
 * Of the long bodies of strangers this share of `arrivingBytesMax` may begin a second. A body that is
 * broken off is free only when the garbage collector has seen it: without a pace, strangers who come
 * again and again would fill the memory with what no longer arrives.
 */
const LONG_SHARE_PER_SECOND = 0.25;

/**
 * The connections of the public listener. Whoever has not yet signed a request has a place only as
 * long as nobody else needs it: a thousand silent connections, or bodies that never end, must
 * neither keep the service out nor fill the memory (I7).
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #timer: NodeJS.Timeout;
  #open = 0;
  /** Longest without a sign of life first; with the time since when they are idle. */
  readonly #strangers = new Map<Socket, number>();
  /** Bodies on their way, the oldest first, with what they hold. */
  readonly #arriving = new Map<Socket, number>();
  #arrivingBytes = 0;
  /** What long bodies of strangers took lately, less what the pace has given back since. */
  #longBytes = 0;
  #longBytesAtMs = 0;

  constructor(server: Server, options: ConnectionsOptions) {
    this.#options = options;
    server.on('connection', (socket: Socket) => this.#opened(socket));
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS).unref();
    server.on('close', () => clearInterval(this.#timer));
  }

  /** A request with a good signature came on it: from now on it is like any other. */
  trust(socket: Socket): void {
    this.#strangers.delete(socket);
  }

  /** A request has been answered: a stranger's patience begins anew. */
  answered(socket: Socket): void {
    if (this.#strangers.delete(socket)) this.#noteIdle(socket);
  }

  /**
   * A request has come, and so many bytes of body are to follow. A stranger's long body that is one
   * too many is not read: its connection is closed.
   */
  announced(socket: Socket, bytes: number): void {
    if (bytes <= SHORT_BODY_BYTES || !this.#strangers.has(socket)) return;
    const { arrivingBytesMax } = this.#options.limits();
    const nowMs = this.#options.clock.monotonicMs();
    const pacePerMs = (arrivingBytesMax * LONG_SHARE_PER_SECOND) / 1_000;
    const given = (nowMs - this.#longBytesAtMs) * pacePerMs;
    this.#longBytes = Math.max(0, this.#longBytes - given);
    this.#longBytesAtMs = nowMs;
    if (this.#longBytes + bytes > arrivingBytesMax) this.#close(socket, 'memory');
    else this.#longBytes += bytes;
  }

  /** A piece of a body has come. */
  arrived(socket: Socket, bytes: number): void {
    const weight = bytes + PIECE_OVERHEAD_BYTES;
    this.#arriving.set(socket, (this.#arriving.get(socket) ?? 0) + weight);
    this.#arrivingBytes += weight;
    const { arrivingBytesMax } = this.#options.limits();
    // The oldest are those that do not come to their end: who means it has sent it in a moment.
    for (const oldest of this.#arriving.keys()) {
      if (this.#arrivingBytes <= arrivingBytesMax) return;
      this.#close(oldest, 'memory');
    }
  }

  /** The body is there, or never will be. */
  arrivedWhole(socket: Socket): void {
    this.#arrivingBytes -= this.#arriving.get(socket) ?? 0;
    this.#arriving.delete(socket);
  }

  #opened(socket: Socket): void {
    this.#open += 1;
    socket.once('close', () => {
      this.#open -= 1;
      this.#forget(socket);
    });
    this.#noteIdle(socket);
    if (this.#open <= this.#options.limits().maxConnections) return;
    // The stranger that was silent longest, which is the new one itself where there is no other.
    const [longest] = this.#strangers.keys();
    this.#close(longest ?? socket, 'full');
  }

  #noteIdle(socket: Socket): void {
    this.#strangers.set(socket, this.#options.clock.monotonicMs());
  }

  #sweep(): void {
    const idleSinceMax = this.#options.clock.monotonicMs() - this.#options.limits().strangerIdleMs;
    for (const [socket, idleSinceMs] of this.#strangers) {
      if (idleSinceMs > idleSinceMax) return;
      this.#close(socket, 'idle');
    }
  }

  #close(socket: Socket, why: Closed): void {
    // Destroyed is not yet closed: what it held is free from now on.
    this.#forget(socket);
    socket.destroy();
    this.#options.onClosed(why);
  }

  #forget(socket: Socket): void {
    this.#strangers.delete(socket);
    this.arrivedWhole(socket);
  }
}
