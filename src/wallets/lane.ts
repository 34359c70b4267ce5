import type { CallClass, Operation } from '../domain/operation.ts';
import type { NotSentReason } from '../domain/wallet-answer.ts';
import {
  Breaker,
  type BreakerOverride,
  type BreakerSettings,
  type BreakerState,
} from '../outbound/breaker.ts';
import { Bulkhead } from '../outbound/bulkhead.ts';
import { healthOf } from './health.ts';
import type { WalletSettings } from './wallet-config.ts';
import type { WalletAnswer } from './wallet-exchange.ts';

export interface LaneOptions {
  readonly name: string;
  readonly callClass: CallClass;
  readonly settings: WalletSettings;
  readonly override: BreakerOverride;
  readonly onBreakerChange: (state: BreakerState) => void;
}

/** One operator's calls of one class: they share a bulkhead and a breaker, and nothing else (I7). */
export class Lane {
  readonly #options: LaneOptions;
  readonly #bulkhead: Bulkhead;
  #breakerSettings: BreakerSettings;
  #override: BreakerOverride;
  #breaker: Breaker;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#bulkhead = new Bulkhead(options.settings.maxConcurrent[options.callClass]);
    this.#breakerSettings = options.settings.breaker;
    this.#override = options.override;
    this.#breaker = this.#createBreaker();
  }

  get breakerState(): BreakerState {
    return this.#breaker.state;
  }

  get inFlight(): number {
    return this.#bulkhead.inFlight;
  }

  /** Why a call made now would be refused. */
  refusal(operation: Operation): Extract<NotSentReason, 'breaker' | 'bulkhead'> | undefined {
    // An update is not counted, so it must not be the trial call of a half-open breaker.
    const passes = operation === 'update' ? this.#breaker.state === 'closed' : this.#breaker.admits;
    if (!passes) return 'breaker';
    return this.#bulkhead.full ? 'bulkhead' : undefined;
  }

  /** Makes a call. `refusal` must have admitted it synchronously before. */
  async run<T extends WalletAnswer>(operation: Operation, call: () => Promise<T>): Promise<T> {
    this.#bulkhead.enter();
    try {
      // Updates move no money, and wallets often fail them: they never open the breaker.
      return await (operation === 'update' ? call() : this.#breaker.run(call, healthOf));
    } finally {
      this.#bulkhead.leave();
    }
  }

  override(to: BreakerOverride): void {
    this.#override = to;
    this.#breaker.override(to);
  }

  /** New limits apply from the next call; the breaker is reset only if its settings change. */
  reconfigure({ maxConcurrent, breaker }: WalletSettings): void {
    this.#bulkhead.resize(maxConcurrent[this.#options.callClass]);
    if (isSame(breaker, this.#breakerSettings)) return;
    const before = this.#breaker;
    this.#breakerSettings = breaker;
    this.#breaker = this.#createBreaker();
    if (this.#breaker.state !== before.state) this.#options.onBreakerChange(this.#breaker.state);
    before.shutdown();
  }

  shutdown(): void {
    this.#breaker.shutdown();
  }

  #createBreaker(): Breaker {
    return new Breaker({
      name: this.#options.name,
      settings: this.#breakerSettings,
      override: this.#override,
      onChange: this.#options.onBreakerChange,
    });
  }
}

function isSame(one: BreakerSettings, other: BreakerSettings): boolean {
  return (
    one.errorPercent === other.errorPercent &&
    one.minRequests === other.minRequests &&
    one.windowMs === other.windowMs &&
    one.openMs === other.openMs
  );
}
