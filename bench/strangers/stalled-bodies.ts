import { connect, type Socket } from 'node:net';

/** More than is ever sent, and within the gateway's limit. */
const PROMISED_BYTES = 260_000;

/** Connections on which most of a body has arrived and the rest never does. */
export class StalledBodies {
  readonly #port: number;
  readonly #bytes: Buffer;
  readonly #sockets = new Set<Socket>();
  #opened = 0;
  #againMs: number | undefined;
  #stopped = false;

  constructor(url: string, bodyBytes: number) {
    this.#port = Number(new URL(url).port);
    const head = `POST /payment/bet HTTP/1.1\r\nhost: x\r\nx-sign-jws: a..b\r\ncontent-length: ${PROMISED_BYTES}\r\n\r\n`;
    this.#bytes = Buffer.concat([
      Buffer.from(head),
      Buffer.alloc(Math.min(bodyBytes, PROMISED_BYTES - 1), 'x'),
    ]);
  }

  /** The number of connections opened so far. */
  get opened(): number {
    return this.#opened;
  }

  /** @param againMs how soon a closed connection comes again; default: never */
  start(connections: number, againMs?: number): void {
    this.#againMs = againMs;
    for (let count = 0; count < connections; count += 1) this.#open();
  }

  stop(): void {
    this.#stopped = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(): void {
    if (this.#stopped) return;
    const socket = connect(this.#port, '127.0.0.1');
    this.#sockets.add(socket);
    socket.once('connect', () => {
      this.#opened += 1;
      socket.write(this.#bytes);
    });
    // They are here to be closed by the gateway.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#againMs !== undefined) setTimeout(() => this.#open(), this.#againMs).unref();
    });
  }
}
