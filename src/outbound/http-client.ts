import { Pool } from 'undici';
import type { Clock } from '../domain/clock.ts';
import type { Deadline } from '../domain/deadline.ts';
import { createConnector } from './connector.ts';
import { type Exchange, HttpCall } from './http-call.ts';
import type { HttpRequest } from './http-message.ts';

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

export interface HttpClientOptions {
  readonly clock: Clock;
  /** Scheme, host and port of the wallet. */
  readonly origin: string;
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  /** At least as many as calls may be under way, so that none waits for another's connection. */
  readonly connections: number;
}

/** The HTTP connections to one wallet. */
export class HttpClient {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #pool: Pool;

  constructor(options: HttpClientOptions) {
    this.#clock = options.clock;
    this.#timeoutMs = options.timeoutMs;
    this.#pool = new Pool(options.origin, {
      connections: options.connections,
      connect: createConnector({
        allowPrivate: options.allowPrivate,
        timeoutMs: Math.min(options.timeoutMs, CONNECT_TIMEOUT_MS_MAX),
      }),
      // One request at a time on a connection: with more, a reset would leave several unknown.
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS_MAX,
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
    const call = new HttpCall({
      clock: this.#clock,
      limitMs: this.budgetMs(deadline),
      answerBytesMax: request.answerBytesMax,
      maySend: () => deadline.allowsWalletCall() && maySend(),
    });
    const { method, path, headers, body } = request;
    this.#pool.dispatch({ method, path, headers, body }, call);
    return call.outcome;
  }

  /** Takes no more calls, lets those under way finish, then closes the connections. */
  async close(): Promise<void> {
    if (!this.#pool.destroyed) await this.#pool.close();
  }
}
