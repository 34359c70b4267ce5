import type { Clock } from '../domain/clock.ts';
import type { AnsweredCall } from '../outbound/http-call.ts';
import { HttpClient } from '../outbound/http-client.ts';
import type { WalletSettings } from './wallet-config.ts';

export interface WalletConnectionsOptions {
  readonly clock: Clock;
  /** Read whenever connections are made. */
  readonly settings: () => WalletSettings;
  readonly onNameUnanswered: (hostname: string) => void;
  readonly onCloseFailed: (error: unknown) => void;
  /** From now on each call has a connection of its own. Called once for these settings. */
  readonly onAnsweredTwice: (lastRequestId: string | undefined) => void;
}

/** The connections to one wallet, created when first needed. */
export class WalletConnections {
  readonly #options: WalletConnectionsOptions;
  #http: HttpClient | undefined;
  #isOneCallEach = false;

  constructor(options: WalletConnectionsOptions) {
    this.#options = options;
  }

  get current(): HttpClient {
    this.#http ??= this.#make();
    return this.#http;
  }

  /** Gives later calls new connections, of new settings perhaps; calls in flight end on the old ones. */
  replace(): void {
    this.#isOneCallEach = false;
    this.#closePresent();
  }

  /**
   * Answers on these connections do not belong to the calls that they came to. Later calls get a connection each, which
   * is closed with its answer: a wallet that has answered twice does so again, and the copy of a refusal, which
   * names no bet, would decline whichever bet is next on its connection (I2). An answer that is another
   * call's and the first on its connection is a fault behind it, which no connection cures.
   * @param old nothing happens if they have been replaced already
   * @param last see `HttpClientOptions.onMixedUp`
   */
  #distrust(old: HttpClient, last: AnsweredCall | undefined): void {
    if (old !== this.#http || this.#isOneCallEach) return;
    this.#isOneCallEach = last !== undefined;
    if (last !== undefined) this.#options.onAnsweredTwice(last.requestId);
    this.#closePresent();
  }

  #closePresent(): void {
    const old = this.#http;
    this.#http = undefined;
    old?.close().catch(this.#options.onCloseFailed);
  }

  async close(): Promise<void> {
    await this.#http?.close();
  }

  #make(): HttpClient {
    const { clock, settings, onNameUnanswered } = this.#options;
    const { baseUrl, allowPrivate, tls, timeoutMs, maxConcurrent } = settings();
    const made: HttpClient = new HttpClient({
      clock,
      origin: new URL(baseUrl).origin,
      allowPrivate,
      tls,
      timeoutMs,
      connections: maxConcurrent.read + maxConcurrent.money,
      onNameUnanswered,
      isOneCallEach: this.#isOneCallEach,
      onMixedUp: (last) => this.#distrust(made, last),
    });
    return made;
  }
}
