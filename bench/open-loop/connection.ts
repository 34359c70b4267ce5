import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  /** The protocol's, where the body has one. */
  readonly code: number | undefined;
}

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: (\d+)/i;
const CODE = /"code":(\d+)/;
/** Where the status stands in `HTTP/1.1 200`. */
const STATUS_AT = 9;

/** A connection that has one request on its way at a time, at next to no cost for its process. */
export class Connection {
  readonly #socket: Socket;
  readonly #free: (connection: Connection) => void;
  #told: ((answer: Answer | undefined) => void) | undefined;
  #received = '';

  /**
   * @param free called whenever it could take a request
   * @param gone called once it can take none any more
   */
  constructor(
    { hostname, port }: URL,
    free: (connection: Connection) => void,
    gone: (connection: Connection) => void,
  ) {
    this.#free = free;
    this.#socket = connect(Number(port), hostname);
    this.#socket.setNoDelay(true).setEncoding('latin1');
    this.#socket.on('data', (text) => this.#read(String(text)));
    // What it had is told by `close`.
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.on('close', () => {
      gone(this);
      this.#tell(undefined);
    });
  }

  /** @param told called once, with undefined where the connection broke without an answer */
  send(request: Buffer, told: (answer: Answer | undefined) => void): void {
    this.#told = told;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const length = LENGTH.exec(this.#received)?.[1];
    if (length === undefined) throw new Error(`an answer without a length: ${this.#received}`);
    const bodyAt = headEnd + HEAD_END.length;
    if (this.#received.length < bodyAt + Number(length)) return;
    const status = Number(this.#received.slice(STATUS_AT, STATUS_AT + 3));
    const code = CODE.exec(this.#received.slice(bodyAt))?.[1];
    const closes = /\r\nconnection: close/i.test(this.#received.slice(0, bodyAt));
    this.#received = '';
    this.#tell({ status, code: code === undefined ? undefined : Number(code) });
    if (closes) this.#socket.destroy();
    else this.#free(this);
  }

  #tell(answer: Answer | undefined): void {
    const told = this.#told;
    this.#told = undefined;
    told?.(answer);
  }
}
