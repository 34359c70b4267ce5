import type { Clock } from '../../domain/clock.ts';
import { Deadline } from '../../domain/deadline.ts';
import type { AnsweredCall } from '../../outbound/http-call.ts';
import { HttpClient } from '../../outbound/http-client.ts';
import type { WalletAdapter } from '../../wallets/adapters/adapter.ts';
import { createAdapter } from '../../wallets/adapters/index.ts';
import type { WalletSettings } from '../../wallets/wallet-config.ts';
import { type Call, meaningOf, readingOf } from './answer-meaning.ts';
import type { ForgedRequest, SignedAs } from './forged-requests.ts';
import type { RecordedCall } from './recorded-call.ts';

/** More than the most concurrent case sends at once. */
const CONNECTIONS = 64;

/** A wallet that left this many calls without an answer is not called further. */
const SILENT_CALLS_MAX = 12;
/** Nor one that has cost this much waiting, in milliseconds: a run should end within a minute. */
const SILENT_MS_MAX = 20_000;

export interface WalletConnectionOptions {
  readonly settings: WalletSettings;
  readonly clock: Clock;
  /** How long one call may take, the answer's last byte included. */
  readonly callMs: number;
  /** When aborted, no further call begins. */
  readonly signal: AbortSignal;
}

/** The gateway's own adapter and HTTP client, without breaker and bulkhead, which would hide answers. */
export class WalletConnection {
  readonly #options: WalletConnectionOptions;
  readonly #client: HttpClient;
  readonly #withoutDialect: WalletAdapter;
  #adapter: WalletAdapter;
  #callCount = 0;
  #silentCalls = 0;
  #silentMs = 0;
  /** Until when the waiting for unanswered calls has been counted. */
  #silentUntilMs = 0;
  #answeredTwice: AnsweredCall | undefined;
  readonly #idleMsOfClosed: number[] = [];

  constructor(options: WalletConnectionOptions) {
    const { settings, clock, callMs } = options;
    this.#options = options;
    this.#withoutDialect = createAdapter({ ...settings, dialect: {} }, clock);
    this.#adapter = createAdapter(settings, clock);
    this.#client = new HttpClient({
      clock,
      origin: new URL(settings.baseUrl).origin,
      allowPrivate: settings.allowPrivate,
      tls: settings.tls,
      timeoutMs: callMs,
      connections: CONNECTIONS,
      onAnsweredTwice: (requestId) => {
        this.#answeredTwice = { requestId };
      },
      onClosedIdle: (idleMs) => {
        this.#idleMsOfClosed.push(idleMs);
      },
    });
  }

  get adapter(): WalletAdapter {
    return this.#adapter;
  }

  get callCount(): number {
    return this.#callCount;
  }

  /** Whether so many calls were left without an answer that further ones would only take time. */
  get isSilent(): boolean {
    return this.#silentCalls >= SILENT_CALLS_MAX || this.#silentMs >= SILENT_MS_MAX;
  }

  /** The call after whose answer the wallet sent something more, if one did. Later calls have a connection each. */
  get answeredTwice(): AnsweredCall | undefined {
    return this.#answeredTwice;
  }

  /** How long each connection had been idle that the wallet closed although it had not said that it would. */
  get idleMsOfClosed(): readonly number[] {
    return this.#idleMsOfClosed;
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** Uses these settings from now on. */
  adopt(settings: WalletSettings): void {
    this.#adapter = createAdapter(settings, this.#options.clock);
  }

  deadline(): Deadline {
    const { clock, callMs } = this.#options;
    return new Deadline(clock, clock.monotonicMs(), callMs, 0);
  }

  /**
   * One call, never repeated; @throws the signal's reason when the run is being stopped.
   * @param isCleanUp sent all the same, so that no stake or payout remains
   */
  async send(call: Call, forgery?: ForgedRequest, isCleanUp = false): Promise<RecordedCall> {
    const { clock, callMs, signal } = this.#options;
    if (!isCleanUp) signal.throwIfAborted();
    this.#callCount += 1;
    const signed =
      call.kind === 'bet'
        ? this.#adapter.betRequest(call.call, callMs)
        : this.#adapter.readRequest(call.call, callMs);
    const startedAtMs = clock.monotonicMs();
    const atMs = clock.nowMs();
    const request = forgery?.change(signed) ?? signed;
    const exchange = await this.#client.exchange(request, call.call.deadline);
    const endedAtMs = clock.monotonicMs();
    if (exchange.kind !== 'response') this.#noteSilence(startedAtMs, endedAtMs);
    const reading = readingOf(this.#adapter, call, exchange);
    const signedAs: SignedAs = forgery?.signedAs(signed) ?? { kind: 'proper' };
    return {
      call,
      operation: call.call.operation,
      request,
      signedAs,
      forged: signedAs.kind !== 'proper',
      exchange,
      reading,
      readingByProtocol: readingOf(this.#withoutDialect, call, exchange),
      answer: meaningOf(reading, exchange, call),
      ms: endedAtMs - startedAtMs,
      atMs,
      wanted: { kind: 'anything' },
    };
  }

  /** Concurrent waiting counts once. Call it in the order in which the calls end. */
  #noteSilence(fromMs: number, untilMs: number): void {
    this.#silentCalls += 1;
    this.#silentMs += untilMs - Math.max(fromMs, this.#silentUntilMs);
    this.#silentUntilMs = untilMs;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
