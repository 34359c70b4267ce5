import { type Dispatcher, errors } from 'undici';
import type { Clock } from '../domain/clock.ts';
import { WALLET_BUDGET_MS_MIN } from '../domain/deadline.ts';
import type { WalletFault } from '../domain/wallet-answer.ts';
import { stepped } from '../lib/within.ts';
import { describeError, isOwnShortage } from './describe-error.ts';
import type { HttpResponse } from './http-message.ts';

/** A call that was answered, by the `x-request-id` that it bore. */
export interface AnsweredCall {
  readonly requestId: string | undefined;
}

/** How far a call has come. Its connection keeps this, and not the call, which holds the whole request and answer. */
export interface CallProgress {
  readonly requestId: string | undefined;
  /** Also true if it has failed since. */
  isSent: boolean;
  /** On the monotonic clock; undefined until the answer is complete. */
  answeredAtMs: number | undefined;
}

/** The outcome of one HTTP exchange with a wallet. `notSent`: certainly not a single byte was sent (I2). */
export type Exchange =
  | (HttpResponse & {
      readonly kind: 'response';
      /** The call that was answered before on the same connection. */
      readonly answeredBefore?: AnsweredCall;
    })
  | {
      readonly kind: 'notSent';
      readonly reason: 'connection' | 'deadline';
      readonly error: string;
      /** This process had no socket or memory for it, which says nothing about the other end. */
      readonly isOwnShortage?: true;
    }
  | {
      readonly kind: 'failed';
      readonly fault: Extract<WalletFault, 'timeout' | 'connection' | 'bad_answer'>;
      readonly status?: number;
      readonly error: string;
      /** The part of an answer that was received. */
      readonly partial?: Omit<HttpResponse, 'status'>;
    };

export interface HttpCallOptions {
  readonly clock: Clock;
  /** From now until the last byte of the answer, including waiting for a connection. */
  readonly limitMs: number;
  readonly answerBytesMax: number;
  /** Checked at the moment a connection takes the request. */
  readonly maySend: () => boolean;
  /** Dispatches the call to another connection. */
  readonly dispatchAgain?: () => void;
  /** The `x-request-id` that it bears, to name it to people. */
  readonly requestId?: string | undefined;
}

/** A wallet that has not accepted a connection for this long is at fault, whatever ended the wait. */
const CONNECTION_PATIENCE_MS = 1000;

const TOO_MANY_REQUESTS = 429;

/** Informational (1xx) answers allowed before the answer itself; each costs as much as an answer's head. */
const INFORMATIONAL_MAX = 8;

/** A separate piece takes some hundred bytes of memory: of an answer that drips, this many are kept at most. */
const PIECES_MAX = 1024;

/**
 * One exchange, as undici's handler of one request. It relies on facts that tests hold: `onRequestStart` comes
 * directly before the bytes are written, and a throw from it prevents them; earlier errors come to
 * `onResponseError` alone; a request is never given to a second connection (I5).
 */
export class HttpCall implements Dispatcher.DispatchHandler {
  /** Settles exactly once, at the latest after `limitMs`; never rejects. */
  readonly outcome: Promise<Exchange>;
  /** The call that was answered before on the connection that takes this one. */
  answeredBefore: AnsweredCall | undefined;
  readonly progress: CallProgress;
  readonly #resolve: (exchange: Exchange) => void;
  readonly #options: HttpCallOptions;
  readonly #startedAtMs: number;
  readonly #timer: NodeJS.Timeout;
  /** Set once a connection has taken the request, which from then on counts as sent. */
  #controller: Dispatcher.DispatchController | undefined;
  #over = false;
  #wasDispatchedAgain = false;
  #status: number | undefined;
  #contentType: string | undefined;
  #retryAfter: string | undefined;
  #informational = 0;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(options: HttpCallOptions) {
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#options = options;
    this.progress = { requestId: options.requestId, isSent: false, answeredAtMs: undefined };
    this.#startedAtMs = options.clock.monotonicMs();
    // If this process was busy, one turn of the loop lets an answer that had arrived in time count (I2).
    this.#timer = setTimeout(() => setImmediate(() => this.#timedOut()), stepped(options.limitMs));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // An abort would work too, but it would close the connection.
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
    this.progress.isSent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > INFORMATIONAL_MAX) {
        this.#giveUp('bad_answer', `more than ${INFORMATIONAL_MAX} informational answers came`);
      }
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
    if (this.#bytes > this.#options.answerBytesMax) {
      this.#tooLarge();
      return;
    }
    this.#pieces.push(chunk);
    if (this.#pieces.length >= PIECES_MAX) this.#pieces = [Buffer.concat(this.#pieces)];
  }

  onResponseEnd(): void {
    if (this.#status === undefined) return;
    this.progress.answeredAtMs = this.#options.clock.monotonicMs();
    const [status, retryAfter] = [this.#status, this.#retryAfter];
    const { answeredBefore } = this;
    const before = answeredBefore === undefined ? {} : { answeredBefore };
    this.#finish({ kind: 'response', status, ...this.#received(), retryAfter, ...before });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#controller === undefined) {
      if (this.#dispatchesAgain(error)) return;
      const own = isOwnShortage(error) ? ({ isOwnShortage: true } as const) : {};
      this.#finish({ kind: 'notSent', reason: 'connection', error: describeError(error), ...own });
    } else {
      this.#fail(isBrokenAnswer(error) ? 'bad_answer' : 'connection', describeError(error));
    }
  }

  /** A wallet may close an idle connection just before it takes this request: then nothing was sent. */
  #dispatchesAgain(error: Error): boolean {
    const { dispatchAgain } = this.#options;
    const isOver = this.#over || this.#wasDispatchedAgain;
    if (dispatchAgain === undefined || isOver || !isOfOpenConnection(error)) return false;
    this.#wasDispatchedAgain = true;
    // Not within undici, which is still cleaning up after that connection.
    setImmediate(dispatchAgain);
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

  /** Whether too little time is left to receive an answer: the wallet's own timeout may end before the deadline. */
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

  #tooLarge(): void {
    const limit = this.#options.answerBytesMax;
    this.#giveUp('bad_answer', `the answer is larger than ${limit} bytes`);
  }

  /** Ends a call that was sent, and closes its connection, because later data would belong to no call. */
  #giveUp(fault: 'timeout' | 'bad_answer', error: string): void {
    this.#fail(fault, error);
    this.#controller?.abort(new Error(error));
  }

  #fail(fault: 'timeout' | 'connection' | 'bad_answer', error: string): void {
    const came =
      this.#status === undefined ? {} : { status: this.#status, partial: this.#received() };
    this.#finish({ kind: 'failed', fault, error, ...came });
  }

  #received(): Omit<HttpResponse, 'status'> {
    return { contentType: this.#contentType, body: Buffer.concat(this.#pieces) };
  }

  #finish(exchange: Exchange): void {
    if (this.#over) return;
    this.#over = true;
    this.#pieces = [];
    clearTimeout(this.#timer);
    this.#resolve(exchange);
  }
}

/** Whether an established connection broke while the call waited for one. */
function isOfOpenConnection(error: Error): boolean {
  return 'syscall' in error && error.syscall === 'read';
}

/** Errors of undici that mean "this is not HTTP" rather than "the connection broke". */
function isBrokenAnswer(error: Error): boolean {
  return (
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError ||
    error instanceof errors.ResponseContentLengthMismatchError
  );
}
