import type { Clock } from '../domain/clock.ts';
import { HttpClient, type HttpClientOptions } from '../outbound/http-client.ts';
import type { WalletSettings } from './wallet-config.ts';

type Reports = Pick<HttpClientOptions, 'onAnsweredTwice' | 'onCloseFailed'>;

export interface WalletConnectionsOptions extends Required<Reports> {
  readonly clock: Clock;
  /** Read whenever connections are made. */
  readonly settings: () => WalletSettings;
}

/** The connections to one wallet, created when first needed. */
export class WalletConnections {
  readonly #options: WalletConnectionsOptions;
  #http: HttpClient | undefined;

  constructor(options: WalletConnectionsOptions) {
    this.#options = options;
  }

  get current(): HttpClient {
    this.#http ??= this.#make();
    return this.#http;
  }

  /** Gives later calls new connections, of new settings perhaps; calls in flight end on the old ones. */
  replace(): void {
    const old = this.#http;
    this.#http = undefined;
    void old?.close();
  }

  async close(): Promise<void> {
    await this.#http?.close();
  }

  #make(): HttpClient {
    const { settings, ...rest } = this.#options;
    const { baseUrl, allowPrivate, tls, timeoutMs, maxConcurrent } = settings();
    return new HttpClient({
      ...rest,
      origin: new URL(baseUrl).origin,
      allowPrivate,
      tls,
      timeoutMs,
      connections: maxConcurrent.read + maxConcurrent.money,
    });
  }
}
