import type { Clock } from '../domain/clock.ts';
import type { Deadline } from '../domain/deadline.ts';
import { createConnector, type TlsIdentity } from './connector.ts';
import { type AnsweredCall, type Exchange, HttpCall } from './http-call.ts';
import type { HttpRequest } from './http-message.ts';
import { HttpPool } from './http-pool.ts';

/** A wallet that has not accepted after the retry of a lost SYN (1 s) is down. */
const CONNECT_TIMEOUT_MS_MAX = 2000;

/** Idle connections are closed before middleboxes silently drop them, which would turn a bet into a timeout. */
export const IDLE_MS = 4000;
const IDLE_MS_MAX = 30_000;

/** Limit for one head, and for the trailers. */
const HEAD_BYTES_MAX = 16 * 1024;

export interface HttpClientOptions {
  readonly clock: Clock;
  /** Scheme, host and port of the wallet. */
  readonly origin: string;
  readonly allowPrivate: boolean;
  /** Default: the system's authorities, and no certificate of our own. */
  readonly tls?: TlsIdentity | undefined;
  /** The longest that a call may take, the wait for its connection included; a deadline may leave less. */
  readonly timeoutMs: number;
  /** At least as many as calls may be in flight, so that none waits for another's connection. */
  readonly connections: number;
  /** A call has got a second answer. Called once, with the request id of the call answered last. */
  readonly onAnsweredTwice?: (requestId: string | undefined) => void;
  /** The other side has closed a connection that had been idle for this long, and had not said that it would. */
  readonly onClosedIdle?: (idleMs: number) => void;
  /** A connection could not be closed. */
  readonly onCloseFailed?: (error: unknown) => void;
}

/** The HTTP connections to one wallet. */
export class HttpClient {
  readonly #options: HttpClientOptions;
  #pool: HttpPool;
  /** Each call gets a connection of its own, which is closed with its answer. */
  #isOneCallEach = false;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#pool = this.#createPool();
  }

  /** How long a call may take now, in milliseconds: the operator's timeout or what the deadline leaves, if less. */
  budgetMs(deadline: Deadline): number {
    return Math.min(this.#options.timeoutMs, deadline.walletMs());
  }

  /**
   * Sends a request at most once and reads its answer, redirects too. Never rejects; settles within the budget.
   * @param maySend checked, besides the deadline, at the moment a connection takes the request
   */
  exchange(
    request: HttpRequest,
    deadline: Deadline,
    maySend: () => boolean = () => true,
  ): Promise<Exchange> {
    const { method, path, headers, body } = request;
    const dispatch = () => {
      const last = this.#isOneCallEach ? { reset: true } : undefined;
      this.#pool.dispatch({ method, path, headers, body, ...last }, call);
    };
    const call = new HttpCall({
      clock: this.#options.clock,
      limitMs: this.budgetMs(deadline),
      answerBytesMax: request.answerBytesMax,
      maySend: () => deadline.allowsWalletCall() && maySend(),
      dispatchAgain: dispatch,
      requestId: headers['x-request-id'],
    });
    dispatch();
    return call.outcome;
  }

  /** Call it if the answer turns out to be another call's: a left-over one, which its connection still held. */
  distrustConnections(exchange: Exchange): void {
    this.#distrust(exchange.kind === 'response' ? exchange.answeredBefore : undefined);
  }

  /** Takes no more calls, waits for those in flight, then closes the connections. Never rejects. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  /**
   * Gives later calls new connections; after a second answer one each: its copy would decline another bet (I2).
   * @param last the call answered before on the connection; none: the fault is behind it
   */
  #distrust(last: AnsweredCall | undefined): void {
    if (this.#isOneCallEach || this.#pool.isClosing) return;
    const { onAnsweredTwice } = this.#options;
    this.#isOneCallEach = last !== undefined;
    if (last !== undefined) onAnsweredTwice?.(last.requestId);
    const old = this.#pool;
    this.#pool = this.#createPool();
    void old.close();
  }

  #createPool(): HttpPool {
    const { clock, origin, connections, allowPrivate, tls, timeoutMs } = this.#options;
    return new HttpPool({
      clock,
      origin,
      connections,
      client: {
        connect: createConnector({
          allowPrivate,
          tls,
          timeoutMs: Math.min(timeoutMs, CONNECT_TIMEOUT_MS_MAX),
        }),
        // One request at a time per connection: with more, a reset would leave several outcomes unknown.
        pipelining: 1,
        allowH2: false,
        maxHeaderSize: HEAD_BYTES_MAX,
        keepAliveTimeout: IDLE_MS,
        keepAliveMaxTimeout: IDLE_MS_MAX,
        // Every call has its own timer, exact to the millisecond and covering all phases.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      onAnsweredTwice: (last) => this.#distrust(last),
      onCloseFailed: (error) => this.#options.onCloseFailed?.(error),
      onClosedIdle: ({ answeredAtMs = 0 }) =>
        this.#options.onClosedIdle?.(clock.monotonicMs() - answeredAtMs),
    });
  }
}
