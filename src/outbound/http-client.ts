import { Pool } from 'undici';
import type { Clock } from '../domain/clock.ts';
import type { Deadline } from '../domain/deadline.ts';
import { createConnector, type TlsIdentity } from './connector.ts';
import { type AnsweredCall, type Exchange, HttpCall } from './http-call.ts';
import type { HttpRequest } from './http-message.ts';
import { trackedClients } from './tracked-client.ts';

/**
 * Longer than the retry after a lost SYN, which comes after 1 s: a wallet that has not accepted by then is down, and
 * a later connection leaves no time for an answer.
 */
const CONNECT_TIMEOUT_MS_MAX = 2000;

/**
 * Idle connections are closed before middleboxes silently drop them, which would turn the next bet
 * into a timeout. A wallet's own `Keep-Alive` header may shorten this.
 */
export const IDLE_MS = 4000;
const IDLE_MS_MAX = 30_000;

/**
 * A connection takes no new request after this, even if it is never idle: the wallet's name may point to another
 * machine by now, with other books, and its certificate may have expired.
 */
const CONNECTION_AGE_MS_MAX = 60_000;

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
  /**
   * A call has got a second answer. Called once, and each later call has a connection of its own.
   * @param requestId of the call answered last on that connection, which is perhaps the one that got the copy
   */
  readonly onAnsweredTwice?: (requestId: string | undefined) => void;
  /** The other side has closed a connection that had been idle for this long, and had not said that it would. */
  readonly onClosedIdle?: (idleMs: number) => void;
  /** Connections that were replaced could not be closed. */
  readonly onCloseFailed?: (error: unknown) => void;
}

/** The HTTP connections to one wallet. */
export class HttpClient {
  readonly #options: HttpClientOptions;
  #pool: Pool;
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
   * Sends a request at most once and reads its answer. Redirects are answers like any other.
   * @param maySend checked, besides the deadline, at the moment a connection takes the request
   * @returns never rejects; settles within `budgetMs(deadline)`
   */
  exchange(
    request: HttpRequest,
    deadline: Deadline,
    maySend: () => boolean = () => true,
  ): Promise<Exchange> {
    const { method, path, headers, body } = request;
    const dispatch = () => {
      const last = this.#isOneCallEach ? { reset: true } : {};
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

  /** Takes no more calls, waits for those in flight, then closes the connections. */
  async close(): Promise<void> {
    if (!this.#pool.destroyed) await this.#pool.close();
  }

  /**
   * Gives later calls new connections. A wallet that has answered a call twice does so again, and the copy of a
   * refusal would decline whichever bet is next (I2): later calls then get a connection each.
   * @param last the call answered before on the connection; none: the fault is behind it, and no connection cures it
   */
  #distrust(last: AnsweredCall | undefined): void {
    if (this.#isOneCallEach || this.#pool.closed) return;
    const { onAnsweredTwice, onCloseFailed } = this.#options;
    this.#isOneCallEach = last !== undefined;
    if (last !== undefined) onAnsweredTwice?.(last.requestId);
    const old = this.#pool;
    this.#pool = this.#createPool();
    old.close().catch((error: unknown) => onCloseFailed?.(error));
  }

  #createPool(): Pool {
    const { clock, origin, connections, allowPrivate, tls, timeoutMs } = this.#options;
    return new Pool(origin, {
      factory: trackedClients(
        (last) => this.#distrust(last),
        ({ answeredAtMs = 0 }) => this.#options.onClosedIdle?.(clock.monotonicMs() - answeredAtMs),
      ),
      connections,
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
      clientTtl: CONNECTION_AGE_MS_MAX,
      // Every call has its own timer, exact to the millisecond and covering all phases.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }
}
