import type { CallClass } from '../../domain/operation.ts';
import type { BreakerOverride } from '../../outbound/breaker.ts';
import type { Authority } from '../../store/audit/audited.ts';
import type { BreakerOverrideStore, StoredOverride } from '../../store/breaker-override-store.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Wallets } from '../../wallets/wallets.ts';

/** How often a process reads the overrides, and so how soon it sees a change made at another. */
const POLL_MS = 1_000;

export interface BreakerOverridesOptions {
  readonly store: BreakerOverrideStore;
  readonly wallets: Pick<Wallets, 'setOverride'>;
  readonly logger: Logger;
}

/**
 * People's overrides of breakers, kept in PostgreSQL: each process reads them every second.
 * While PostgreSQL is down, the last ones read stay in force.
 */
export class BreakerOverrides {
  readonly #options: BreakerOverridesOptions;
  #inForce: ReadonlyMap<string, StoredOverride> = new Map();
  /** Counts the changes made here: a read that began before a change does not contain it. */
  #changes = 0;
  #timer: NodeJS.Timeout | undefined;
  #failing = false;
  #closed = false;

  constructor(options: BreakerOverridesOptions) {
    this.#options = options;
  }

  /** The override in force in this process for an operator's breaker. */
  get(operatorId: string, callClass: CallClass): BreakerOverride {
    return this.#inForce.get(keyOf(operatorId, callClass))?.state ?? 'auto';
  }

  /** In force in this process when it resolves, in others within two seconds. @throws GatewayError */
  async set(
    operatorId: string,
    callClass: CallClass,
    to: BreakerOverride,
    by: Authority,
  ): Promise<void> {
    const { store } = this.#options;
    if (to === 'auto') await store.remove(operatorId, callClass, by);
    else await store.write({ operatorId, callClass, state: to }, by);
    this.#changes += 1;
    const next = new Map(this.#inForce);
    if (to === 'auto') next.delete(keyOf(operatorId, callClass));
    else next.set(keyOf(operatorId, callClass), { operatorId, callClass, state: to });
    this.#apply(next);
  }

  /** Resolves after the first read, even a failed one; keeps reading until `close`. */
  async start(): Promise<void> {
    await this.#poll();
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.start(), POLL_MS).unref();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #poll(): Promise<void> {
    const changesBefore = this.#changes;
    try {
      const overrides = await this.#options.store.all();
      if (this.#changes === changesBefore && !this.#closed) this.#apply(byKey(overrides));
      if (this.#failing) this.#options.logger.info('breaker_overrides.read_again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing && !this.#closed) {
        this.#options.logger.warn({ err: error }, 'breaker_overrides.not_read');
      }
      this.#failing = true;
    }
  }

  #apply(next: ReadonlyMap<string, StoredOverride>): void {
    const before = this.#inForce;
    this.#inForce = next;
    for (const [key, { operatorId, callClass, state }] of next) {
      if (before.get(key)?.state !== state) this.#tell(operatorId, callClass, state);
    }
    for (const [key, { operatorId, callClass }] of before) {
      if (!next.has(key)) this.#tell(operatorId, callClass, 'auto');
    }
  }

  #tell(operatorId: string, callClass: CallClass, to: BreakerOverride): void {
    this.#options.logger.warn(
      { operator: operatorId, class: callClass, state: to },
      'breaker_overrides.changed',
    );
    this.#options.wallets.setOverride(operatorId, callClass, to);
  }
}

function byKey(overrides: readonly StoredOverride[]): ReadonlyMap<string, StoredOverride> {
  return new Map(overrides.map((one) => [keyOf(one.operatorId, one.callClass), one]));
}

function keyOf(operatorId: string, callClass: CallClass): string {
  return `${operatorId}/${callClass}`;
}
