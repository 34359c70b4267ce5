import { type Dispatcher, errors } from 'undici';
import type { Clock } from '../domain/clock.ts';
import { WALLET_BUDGET_MS_MIN } from '../domain/deadline.ts';
import type { WalletFault } from '../domain/wallet-answer.ts';
import { EndlessAnswerError } from './answer-meter.ts';
import { errorInWords, isOwnShortage } from './error-words.ts';
import type { HttpResponse } from './http-message.ts';

/** How one HTTP exchange with a wallet ended. `notSent`: certainly not one byte of it left (I2). */
export type Exchange =
  | (HttpResponse & { readonly kind: 'response' })
  | {
      readonly kind: 'notSent';
      readonly reason: 'connection' | 'deadline';
      readonly error: string;
      /** This process had no socket or memory for it: nothing is said about the other end. */
      readonly isOwnShortage?: true;
    }
  | {
      readonly kind: 'failed';
      readonly fault: Extract<WalletFault, 'timeout' | 'connection' | 'bad_answer'>;
      readonly status?: number;
      readonly error: string;
      /** What had come of an answer. */
      readonly partial?: Omit<HttpResponse, 'status'>;
    };

export interface HttpCallOptions {
  readonly clock: Clock;
  /** From now until the last byte of the answer, waiting for a connection included. */
  readonly limitMs: number;
  readonly answerBytesMax: number;
  /** Asked in the very moment a connection takes the request. */
  readonly maySend: () => boolean;
  /** Hands the call to a connection, once more. */
  readonly handOver?: () => void;
}

/**
 * A wallet that has not given a connection for this long is at fault, whatever ended the wait; if
 * the caller's time was over sooner, the wallet is not to blame.
 */
const CONNECTION_PATIENCE_MS = 1000;

const TOO_MANY_REQUESTS = 429;

/**
 * An answer may come in this many pieces, and in one more for each of so many bytes. A slow writer
 * flushes every word; one that sends 64 KiB byte by byte takes two hundred times the memory and
 * processor time of an honest answer, in each of hundreds of calls at once (I7).
 */
const PIECES_MAX = 4096;
const BYTES_PER_FURTHER_PIECE = 64;
/** This many pieces are put together at a time: each apart takes some hundred bytes besides its own. */
const PIECES_APART_MAX = 256;

/** Hints that may come before the answer itself; each costs as much as an answer's head. */
const INFORMATIONAL_MAX = 8;
const HEAD_NEVER_CAME = `more than ${INFORMATIONAL_MAX} informational answers came, and no answer`;

/**
 * One exchange, as undici's handler of one request. It relies on these facts of undici's HTTP/1
 * client, each held by a test:
 * - `onRequestStart` is called when a connection takes the request, directly before its head and
 *   body are written; after a throw from it nothing is written, and the connection stays usable;
 * - errors before that (refused, DNS, TLS, connect timeout, an idle connection that is reset) come to
 *   `onResponseError` alone;
 * - a request whose connection broke is failed, not given to another one. Should undici ever do
 *   that, the second `onRequestStart` refuses: a place bet must not be sent twice (I5).
 */
export class HttpCall implements Dispatcher.DispatchHandler {
  /** Settles exactly once, at the latest after `limitMs`; never rejects. */
  readonly outcome: Promise<Exchange>;
  readonly #settle: (exchange: Exchange) => void;
  readonly #options: HttpCallOptions;
  readonly #startedAtMs: number;
  readonly #timer: NodeJS.Timeout;
  /** Set once a connection has taken the request: from then on, it counts as sent. */
  #controller: Dispatcher.DispatchController | undefined;
  #over = false;
  #wasHandedOverAgain = false;
  #status: number | undefined;
  #contentType: string | undefined;
  #retryAfter: string | undefined;
  #informational = 0;
  /** What has come, in order: pieces put together, and behind them those still apart. */
  #together: Buffer[] = [];
  #apart: Buffer[] = [];
  #bytes = 0;
  #pieces = 0;

  constructor(options: HttpCallOptions) {
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    this.outcome = promise;
    this.#settle = resolve;
    this.#options = options;
    this.#startedAtMs = options.clock.monotonicMs();
    // After a busy moment of this process the timer comes first, and an answer that had arrived in
    // time only after it; one turn of the loop lets it count. Unknown is what costs (I2).
    this.#timer = setTimeout(() => setImmediate(() => this.#timedOut()), options.limitMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // An abort would do as well, but it would take the connection with it.
    if (this.#over) throw new Error('the call is over');
    if (this.#controller !== undefined) throw new Error('a request is never sent twice');
    if (!this.#options.maySend()) {
      const error = 'the deadline passed while waiting for a connection';
      this.#finish({ kind: 'notSent', reason: 'deadline', error });
      throw new Error(error);
    }
    if (this.#isNearlyOver()) {
      this.#withoutConnection();
      throw new Error('the time of the call is nearly over');
    }
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > INFORMATIONAL_MAX) this.#giveUp('bad_answer', HEAD_NEVER_CAME);
      return;
    }
    this.#status = status;
    const type = headers['content-type'];
    this.#contentType = Array.isArray(type) ? type.join(', ') : type;
    if (status === TOO_MANY_REQUESTS) this.#retryAfter = String(headers['retry-after'] ?? '');
    if (Number(headers['content-length']) > this.#options.answerBytesMax) this.#tooLarge();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#bytes += chunk.length;
    this.#pieces += 1;
    if (this.#bytes > this.#options.answerBytesMax) this.#tooLarge();
    else if (this.#pieces > PIECES_MAX + this.#bytes / BYTES_PER_FURTHER_PIECE) {
      this.#giveUp('bad_answer', `the answer came in more than ${this.#pieces - 1} pieces`);
    } else this.#keep(chunk);
  }

  onResponseEnd(): void {
    if (this.#status === undefined) return;
    const [status, retryAfter] = [this.#status, this.#retryAfter];
    this.#finish({ kind: 'response', status, ...this.#heard(), retryAfter });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#controller === undefined) {
      if (this.#isHandedOverAgain(error)) return;
      const own = isOwnShortage(error) ? ({ isOwnShortage: true } as const) : {};
      this.#finish({ kind: 'notSent', reason: 'connection', error: errorInWords(error), ...own });
    } else {
      this.#fail(isBrokenAnswer(error) ? 'bad_answer' : 'connection', errorInWords(error));
    }
  }

  /**
   * A wallet drops idle connections when it likes, also in the moment in which one is to take this
   * request. Certainly nothing of it has left then: another connection takes it.
   */
  #isHandedOverAgain(error: Error): boolean {
    const { handOver } = this.#options;
    const isOver = this.#over || this.#wasHandedOverAgain;
    if (handOver === undefined || isOver || !isOfOpenConnection(error)) return false;
    this.#wasHandedOverAgain = true;
    // Not from within undici, which is just clearing up behind that connection.
    setImmediate(handOver);
    return true;
  }

  #timedOut(): void {
    if (this.#over) return;
    if (this.#controller !== undefined) {
      const { limitMs } = this.#options;
      const what = this.#status === undefined ? 'no answer' : 'no complete answer';
      this.#giveUp('timeout', `${what} within ${Math.floor(limitMs)} ms`);
      return;
    }
    this.#withoutConnection();
  }

  /** Whether the wallet would be asked and not be listened to: its own limit may end before the deadline. */
  #isNearlyOver(): boolean {
    const { clock, limitMs } = this.#options;
    const leftMs = this.#startedAtMs + limitMs - clock.monotonicMs();
    return leftMs < Math.min(WALLET_BUDGET_MS_MIN, limitMs / 2);
  }

  #withoutConnection(): void {
    const waitedMs = Math.floor(this.#options.clock.monotonicMs() - this.#startedAtMs);
    this.#finish({
      kind: 'notSent',
      reason: waitedMs >= CONNECTION_PATIENCE_MS ? 'connection' : 'deadline',
      error: `no connection within ${waitedMs} ms`,
    });
  }

  #keep(chunk: Buffer): void {
    this.#apart.push(chunk);
    if (this.#apart.length < PIECES_APART_MAX) return;
    // Never with those before: an answer of megabytes would be copied from its beginning each time.
    this.#together.push(Buffer.concat(this.#apart));
    this.#apart = [];
  }

  #tooLarge(): void {
    const limit = this.#options.answerBytesMax;
    this.#giveUp('bad_answer', `the answer is larger than ${limit} bytes`);
  }

  /** Ends a call that was sent, and its connection with it: what still comes belongs to no one. */
  #giveUp(fault: 'timeout' | 'bad_answer', error: string): void {
    this.#fail(fault, error);
    this.#controller?.abort(new Error(error));
  }

  #fail(fault: 'timeout' | 'connection' | 'bad_answer', error: string): void {
    const came = this.#status === undefined ? {} : { status: this.#status, partial: this.#heard() };
    this.#finish({ kind: 'failed', fault, error, ...came });
  }

  #heard(): Omit<HttpResponse, 'status'> {
    return {
      contentType: this.#contentType,
      body: Buffer.concat([...this.#together, ...this.#apart]),
    };
  }

  #finish(exchange: Exchange): void {
    if (this.#over) return;
    this.#over = true;
    this.#together = [];
    this.#apart = [];
    clearTimeout(this.#timer);
    this.#settle(exchange);
  }
}

/** Whether a connection broke that had come about, while it was waited for. */
function isOfOpenConnection(error: Error): boolean {
  return 'syscall' in error && error.syscall === 'read';
}

/** Errors of undici that say "this is no HTTP" rather than "the connection broke". */
function isBrokenAnswer(error: Error): boolean {
  return (
    error instanceof EndlessAnswerError ||
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError
  );
}
