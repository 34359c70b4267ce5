import type { Clock } from '../domain/clock.ts';
import type { CallClass } from '../domain/operation.ts';
import type { BreakerOverride, BreakerState } from '../outbound/breaker.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Wallet } from './call.ts';
import type { EvidenceLimits } from './evidence.ts';
import { OperatorWallet, type WalletOptions } from './wallet.ts';
import type { WalletOperator } from './wallet-config.ts';

/** A breaker has a new state, by itself or by an override. */
export interface BreakerChange {
  readonly operatorId: string;
  readonly callClass: CallClass;
  readonly state: BreakerState;
}

/** The wallets of all operators. */
export interface Wallets {
  /** An operator keeps its wallet object for as long as it is configured. */
  get(operatorId: string): Wallet | undefined;
  /**
   * Makes these the configured operators: unchanged objects stay, changed ones apply from the next call, missing ones
   * close after their calls. @throws Error for unusable settings; the operators before have been applied
   */
  apply(operators: Iterable<WalletOperator>): void;
  /** Stays in force across reloads, even for an operator that is added later. */
  setOverride(operatorId: string, callClass: CallClass, to: BreakerOverride): void;
  /** @returns ends the subscription */
  onBreakerChange(listener: (change: BreakerChange) => void): () => void;
  /** Waits for all calls in flight, then closes every connection. */
  close(): Promise<void>;
}

export function createWallets(options: {
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Default: none. */
  readonly tracing?: Tracing;
  /** How much of the answers is stored for people. Default: nothing. */
  readonly evidence?: () => EvidenceLimits;
}): Wallets {
  return new WalletRegistry({ evidence: () => NOTHING, ...options });
}

const NOTHING: EvidenceLimits = { acceptedBytes: 0, otherBytes: 0 };

type RegistryOptions = Parameters<typeof createWallets>[0] & Pick<WalletOptions, 'evidence'>;

class WalletRegistry implements Wallets {
  readonly #options: RegistryOptions;
  readonly #wallets = new Map<string, OperatorWallet>();
  readonly #overrides = new Map<string, BreakerOverride>();
  readonly #listeners = new Set<(change: BreakerChange) => void>();

  constructor(options: RegistryOptions) {
    this.#options = options;
    options.metrics.inFlight.beforeReading(() => {
      for (const wallet of this.#wallets.values()) wallet.showInFlight();
    });
  }

  get(operatorId: string): Wallet | undefined {
    return this.#wallets.get(operatorId);
  }

  apply(operators: Iterable<WalletOperator>): void {
    const missing = new Set(this.#wallets.keys());
    for (const config of operators) {
      missing.delete(config.id);
      const wallet = this.#wallets.get(config.id);
      if (wallet === undefined) this.#wallets.set(config.id, this.#create(config));
      else if (wallet.config !== config) wallet.reconfigure(config);
    }
    for (const operatorId of missing) this.#remove(operatorId);
  }

  setOverride(operatorId: string, callClass: CallClass, to: BreakerOverride): void {
    const key = overrideKey(operatorId, callClass);
    if (to === 'auto') this.#overrides.delete(key);
    else this.#overrides.set(key, to);
    this.#wallets.get(operatorId)?.override(callClass, to);
  }

  onBreakerChange(listener: (change: BreakerChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#wallets.values()].map((wallet) => wallet.close()));
    this.#wallets.clear();
  }

  #create(config: WalletOperator): OperatorWallet {
    return new OperatorWallet({
      ...this.#options,
      config,
      overrideOf: (callClass) => this.#overrides.get(overrideKey(config.id, callClass)) ?? 'auto',
      onBreakerChange: (callClass, state) =>
        this.#changed({ operatorId: config.id, callClass, state }),
    });
  }

  #changed(change: BreakerChange): void {
    const { operatorId: operator, callClass, state } = change;
    const level = state === 'closed' ? 'info' : 'warn';
    this.#options.logger[level]({ operator, class: callClass, state }, 'wallet.breaker');
    // Not within opossum, which would treat a listener's error as the wallet's.
    for (const listener of this.#listeners) queueMicrotask(() => listener(change));
  }

  #remove(operatorId: string): void {
    const wallet = this.#wallets.get(operatorId);
    this.#wallets.delete(operatorId);
    wallet?.close().catch((error: unknown) => {
      this.#options.logger.error({ operator: operatorId, err: error }, 'wallet.close_failed');
    });
  }
}

function overrideKey(operatorId: string, callClass: CallClass): string {
  return `${operatorId}/${callClass}`;
}
