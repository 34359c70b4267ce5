import { type RequestListener, Server, type ServerOptions } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import type { Clock } from '../domain/clock.ts';
import { machineMs } from '../lib/machine-clock.ts';

/** What a server says to the process that has its port: it takes connections, has taken one, takes no more. */
export interface FromGivenServer {
  readonly givenServer: 'listen' | 'taken' | 'close';
}

/** What it is told, the last of them together with the connection itself. */
export type ToGivenServer =
  | { readonly publicPort: AddressInfo }
  | { readonly noPublicPort: string }
  /** It came no earlier than this, as `machineMs` has it. */
  | { readonly givenSinceMs: number };

/** The process that has the port. */
export type PortOwner = Pick<NodeJS.Process, 'on' | 'send'>;

/** An HTTP server whose connections another process accepts, which knows since when they have waited. */
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
    // Else Fastify, which asks for it, would open further servers beside this one for `localhost`.
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

  /** Whose port it is says where. */
  override listen(): this {
    this.#tell('listen');
    return this;
  }

  override address(): AddressInfo | null {
    return this.#address;
  }

  /** @returns since when a connection has waited, on the monotonic clock; to be asked as it comes */
  sinceMs(socket: Socket): number {
    return this.#sinceMs.get(socket) ?? this.#clock.monotonicMs();
  }

  /** Takes no more connections, and ends with those that are open. */
  override close(done?: (error?: Error) => void): this {
    this.#tell('close');
    this.closeIdleConnections();
    // Node's own says that this server has never listened, which is so.
    this.#ended = () => super.close(() => done?.());
    if (this.#open === 0) this.#ended();
    return this;
  }

  #tell(what: FromGivenServer['givenServer']): void {
    const message: FromGivenServer = { givenServer: what };
    // Whose port it is may have gone; this process ends with it.
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
      // It may have been closed on its way.
      if (handle instanceof Socket) this.#take(handle, message.givenSinceMs);
    }
  }

  #take(socket: Socket, givenSinceMs: number): void {
    // As of all connections of an HTTP server: a sender may end its side before it is answered.
    socket.allowHalfOpen = true;
    this.#sinceMs.set(socket, this.#clock.monotonicMs() - (machineMs() - givenSinceMs));
    this.emit('connection', socket);
  }
}

/** @returns whether it is what a server says that is given its connections */
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
