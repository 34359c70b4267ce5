import { type RequestListener, Server, type ServerOptions } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import type { Clock } from '../domain/clock.ts';
import { machineMs } from '../lib/machine-clock.ts';

/** Messages to the process that owns the port: accepting connections, one taken, no longer accepting. */
export interface FromGivenServer {
  readonly givenServer: 'listen' | 'taken' | 'close';
}

/** Messages from that process; the last one comes together with a connection. */
export type ToGivenServer =
  | { readonly publicPort: AddressInfo }
  | { readonly noPublicPort: string }
  /** The earliest time at which the connection arrived, by `machineMs`. */
  | { readonly givenSinceMs: number };

/** The process that owns the port. */
export type PortOwner = Pick<NodeJS.Process, 'on' | 'send'>;

/** An HTTP server whose connections are accepted by another process, which says since when they have waited. */
export class GivenServer extends Server {
  readonly #owner: PortOwner;
  readonly #clock: Clock;
  readonly #sinceMs = new WeakMap<Socket, number>();
  #address: AddressInfo | null = null;
  #open = 0;
  #ended: (() => void) | undefined;

  constructor(
    options: ServerOptions,
    handler: RequestListener,
    { owner, clock }: { readonly owner: PortOwner; readonly clock: Clock },
  ) {
    super(options, handler);
    this.#owner = owner;
    this.#clock = clock;
    // Otherwise Fastify, which checks it, would open additional servers for `localhost`.
    Object.defineProperty(this, 'listening', { get: () => this.#address !== null });
    owner.on('message', (message, handle) => this.#hear(message, handle));
    this.on('connection', (socket: Socket) => {
      this.#open += 1;
      socket.once('close', () => {
        this.#open -= 1;
        if (this.#open === 0) this.#ended?.();
      });
    });
  }

  /** The port's owner reports the address. */
  override listen(): this {
    this.#tell('listen');
    return this;
  }

  override address(): AddressInfo | null {
    return this.#address;
  }

  /** @returns since when a connection has waited, on the monotonic clock; call it when the connection arrives */
  sinceMs(socket: Socket): number {
    return this.#sinceMs.get(socket) ?? this.#clock.monotonicMs();
  }

  /** Takes no more connections, and ends with those that are open. */
  override close(done?: (error?: Error) => void): this {
    this.#tell('close');
    this.closeIdleConnections();
    // Node's `close` reports an error because this server never listened; that is ignored.
    this.#ended = () => super.close(() => done?.());
    if (this.#open === 0) this.#ended();
    return this;
  }

  #tell(what: FromGivenServer['givenServer']): void {
    const message: FromGivenServer = { givenServer: what };
    // The port's owner may be gone; this process ends with it.
    this.#owner.send?.(message, undefined, undefined, () => undefined);
  }

  #hear(message: unknown, handle: unknown): void {
    if (!isToGivenServer(message)) return;
    if ('publicPort' in message) {
      this.#address = message.publicPort;
      this.emit('listening');
    } else if ('noPublicPort' in message) {
      this.emit('error', new Error(message.noPublicPort));
    } else {
      this.#tell('taken');
      // The connection may have been closed in transit.
      if (handle instanceof Socket) this.#take(handle, message.givenSinceMs);
    }
  }

  #take(socket: Socket, givenSinceMs: number): void {
    // As for all connections of an HTTP server: a client may end its side before it is answered.
    socket.allowHalfOpen = true;
    this.#sinceMs.set(socket, this.#clock.monotonicMs() - (machineMs() - givenSinceMs));
    this.emit('connection', socket);
  }
}

/** Whether it is a message from a `GivenServer`. */
export function isFromGivenServer(message: unknown): message is FromGivenServer {
  return typeof message === 'object' && message !== null && 'givenServer' in message;
}

function isToGivenServer(message: unknown): message is ToGivenServer {
  return (
    typeof message === 'object' &&
    message !== null &&
    ('publicPort' in message || 'noPublicPort' in message || 'givenSinceMs' in message)
  );
}
