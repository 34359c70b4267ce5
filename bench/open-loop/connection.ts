import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  /** The protocol's code, if the body has one. */
  readonly code: number | undefined;
}

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: (\d+)/i;
const CODE = /"code":(\d+)/;
/** The position of the status in `HTTP/1.1 200`. */
const STATUS_AT = 9;

/** A connection with one request at a time, which costs its process next to nothing. */
export class Connection {
  readonly #socket: Socket;
  readonly #free: (connection: Connection) => void;
  #told: ((answer: Answer | undefined) => void) | undefined;
  #received = '';

  /**
   * @param free called whenever it can take a request
   * @param gone called once it can take no more requests
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
    // `close` reports what happened to its request.
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.on('close', () => {
      gone(this);
      this.#tell(undefined);
    });
  }

  /** @param told called once, with undefined if the connection broke without an answer */
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
