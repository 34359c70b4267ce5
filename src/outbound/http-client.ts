import { Pool } from 'undici';
import type { Clock } from '../domain/clock.ts';
import type { Deadline } from '../domain/deadline.ts';
import { createConnector } from './connector.ts';
import { type Exchange, HttpCall } from './http-call.ts';
import type { HttpRequest } from './http-message.ts';
import type { TlsIdentity } from './tls.ts';

/**
 * Two lost SYNs (after 1 s each time longer): a wallet that has not accepted by then is away, and
 * a connection later than that leaves no time for an answer. undici keeps it within half a second.
 */
const CONNECT_TIMEOUT_MS_MAX = 2000;

/**
 * Idle connections are given up before middleboxes forget them in silence, which would turn the
 * next bet into a timeout. A wallet's own `Keep-Alive` header may shorten this.
 */
const IDLE_MS = 4000;
const IDLE_MS_MAX = 30_000;

/**
 * A connection that is never idle takes no request after this: the wallet's name may stand for another
 * machine by now, with other books, and its certificate may have run out.
 */
const CONNECTION_AGE_MS_MAX = 60_000;

/** Of one head, and of the trailers. */
const HEAD_BYTES_MAX = 16 * 1024;

export interface HttpClientOptions {
  readonly clock: Clock;
  /** Scheme, host and port of the wallet. */
  readonly origin: string;
  readonly allowPrivate: boolean;
  /** Default: the system's authorities, and no certificate of our own. */
  readonly tls?: TlsIdentity | undefined;
  readonly timeoutMs: number;
  /** At least as many as calls may be under way, so that none waits for another's connection. */
  readonly connections: number;
  /** Nobody answers for the name of `origin`: the addresses that it had are used. Told once each time. */
  readonly onNameUnanswered?: (hostname: string) => void;
}

/** The HTTP connections to one wallet. */
export class HttpClient {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #pool: Pool;
  /** The most that any request so far has asked for. */
  #answerBytesMax = 0;

  constructor(options: HttpClientOptions) {
    this.#clock = options.clock;
    this.#timeoutMs = options.timeoutMs;
    this.#pool = new Pool(options.origin, {
      connections: options.connections,
      connect: createConnector({
        allowPrivate: options.allowPrivate,
        tls: options.tls,
        timeoutMs: Math.min(options.timeoutMs, CONNECT_TIMEOUT_MS_MAX),
        answerBytesMax: () => this.#answerBytesMax,
        onNameUnanswered: options.onNameUnanswered,
      }),
      // One request at a time on a connection: with more, a reset would leave several unknown.
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: HEAD_BYTES_MAX,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS_MAX,
      clientTtl: CONNECTION_AGE_MS_MAX,
      // Every call has one timer of its own, exact to the millisecond and over all its phases.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** The time a call may take now: the operator's limit, never above what the deadline leaves. */
  budgetMs(deadline: Deadline): number {
    return Math.min(this.#timeoutMs, deadline.walletMs());
  }

  /**
   * Sends a request at most once and reads its answer. Redirects are answers like any other.
   * @param maySend asked, beside the deadline, in the moment a connection takes the request
   * @returns never rejects; settles within `budgetMs(deadline)`
   */
  exchange(
    request: HttpRequest,
    deadline: Deadline,
    maySend: () => boolean = () => true,
  ): Promise<Exchange> {
    this.#answerBytesMax = Math.max(this.#answerBytesMax, request.answerBytesMax);
    const { method, path, headers, body } = request;
    const handOver = () => this.#pool.dispatch({ method, path, headers, body }, call);
    const call = new HttpCall({
      clock: this.#clock,
      limitMs: this.budgetMs(deadline),
      answerBytesMax: request.answerBytesMax,
      maySend: () => deadline.allowsWalletCall() && maySend(),
      handOver,
    });
    handOver();
    return call.outcome;
  }

  /** Takes no more calls, lets those under way finish, then closes the connections. */
  async close(): Promise<void> {
    if (!this.#pool.destroyed) await this.#pool.close();
  }
}
