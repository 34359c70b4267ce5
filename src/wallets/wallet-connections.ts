import type { Clock } from '../domain/clock.ts';
import { HttpClient } from '../outbound/http-client.ts';
import type { WalletSettings } from './wallet-config.ts';

export interface WalletConnectionsOptions {
  readonly clock: Clock;
  /** Read whenever connections are made. */
  readonly settings: () => WalletSettings;
  readonly onNameUnanswered: (hostname: string) => void;
  readonly onCloseFailed: (error: unknown) => void;
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

  /**
   * Gives later calls new connections; calls in flight end on the old ones.
   * @param old the ones to replace: nothing happens if they have already been replaced
   */
  replace(old = this.#http): void {
    if (old === undefined || old !== this.#http) return;
    this.#http = undefined;
    old.close().catch(this.#options.onCloseFailed);
  }

  async close(): Promise<void> {
    await this.#http?.close();
  }

  #make(): HttpClient {
    const { clock, settings, onNameUnanswered } = this.#options;
    const { baseUrl, allowPrivate, tls, timeoutMs, maxConcurrent } = settings();
    return new HttpClient({
      clock,
      origin: new URL(baseUrl).origin,
      allowPrivate,
      tls,
      timeoutMs,
      connections: maxConcurrent.read + maxConcurrent.money,
      onNameUnanswered,
    });
  }
}
