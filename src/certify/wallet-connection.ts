import type { Clock } from '../domain/clock.ts';
import { Deadline } from '../domain/deadline.ts';
import { HttpClient } from '../outbound/http-client.ts';
import type { HttpRequest } from '../outbound/http-message.ts';
import type { WalletAdapter } from '../wallets/adapters/adapter.ts';
import { createAdapter } from '../wallets/adapters/index.ts';
import type { WalletSettings } from '../wallets/wallet-config.ts';
import { type Call, meaningOf, readingOf } from './answer-meaning.ts';
import { Sighting } from './recorded-call.ts';

/** More than the most concurrent case sends at once. */
const CONNECTIONS = 64;

export interface LineOptions {
  readonly settings: WalletSettings;
  readonly clock: Clock;
  /** How long one call may take, the answer's last byte included. */
  readonly callMs: number;
  /** Aborted: no further call begins. */
  readonly signal: AbortSignal;
}

/** Changes a request after it was signed, for cases about signatures. */
export type Tamper = (request: HttpRequest) => HttpRequest;

/**
 * The wallet at the other end: asked by the gateway's own adapter and connections, but past its
 * breaker and bulkhead, which would hide what the wallet answers.
 */
export class WalletLine {
  readonly #options: LineOptions;
  readonly #client: HttpClient;
  #adapter: WalletAdapter;

  constructor(options: LineOptions) {
    const { settings, clock, callMs } = options;
    this.#options = options;
    this.#adapter = createAdapter(settings, clock);
    this.#client = new HttpClient({
      clock,
      origin: new URL(settings.baseUrl).origin,
      allowPrivate: settings.allowPrivate,
      tls: settings.tls,
      timeoutMs: callMs,
      connections: CONNECTIONS,
    });
  }

  get adapter(): WalletAdapter {
    return this.#adapter;
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** Speaks otherwise from now on. */
  adopt(settings: WalletSettings): void {
    this.#adapter = createAdapter(settings, this.#options.clock);
  }

  deadline(): Deadline {
    const { clock, callMs } = this.#options;
    return new Deadline(clock, clock.monotonicMs(), callMs, 0);
  }

  /**
   * One call, never repeated.
   * @param isCleanUp sent although the run is to stop: money must not be left on the way
   * @throws the signal's reason when the run is to stop
   */
  async send(call: Call, tamper?: Tamper, isCleanUp = false): Promise<Sighting> {
    const { clock, callMs, signal } = this.#options;
    if (!isCleanUp) signal.throwIfAborted();
    const signed =
      call.kind === 'bet'
        ? this.#adapter.betRequest(call.call, callMs)
        : this.#adapter.readRequest(call.call, callMs);
    const startedAtMs = clock.monotonicMs();
    const atMs = clock.nowMs();
    const exchange = await this.#client.exchange(tamper?.(signed) ?? signed, call.call.deadline);
    const ms = clock.monotonicMs() - startedAtMs;
    const reading = readingOf(this.#adapter, call, exchange);
    const meaning = meaningOf(reading, exchange, call);
    return new Sighting({
      call,
      exchange,
      reading,
      meaning,
      ms,
      atMs,
      forged: tamper !== undefined,
    });
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
