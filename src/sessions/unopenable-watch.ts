import { setTimeout as pause } from 'node:timers/promises';
import type { SessionSeals } from '../store/sessions/session-seals.ts';
import type { Logger } from '../telemetry/logger.ts';
import { missingKey, type ResealProgress } from './resealing.ts';
import type { TokenVault } from './token-vault.ts';

const LOOK_AGAIN_MS = 60_000;

/**
 * Counts the sessions whose key is missing, in a process that does not reseal: one that only answers callbacks,
 * or has no key at all. Its `ENCRYPTION_KEY` may differ from that of other processes.
 */
export class UnopenableWatch {
  readonly #seals: Pick<SessionSeals, 'countBetween'>;
  readonly #vault: Pick<TokenVault, 'unopenableRanges'>;
  readonly #logger: Logger;
  readonly #onProgress: (progress: ResealProgress) => void;
  readonly #ended = new AbortController();
  #working: Promise<void> = Promise.resolve();
  #told = false;

  constructor(of: {
    readonly seals: Pick<SessionSeals, 'countBetween'>;
    readonly vault: Pick<TokenVault, 'unopenableRanges'>;
    readonly logger: Logger;
    readonly onProgress: (progress: ResealProgress) => void;
  }) {
    this.#seals = of.seals;
    this.#vault = of.vault;
    this.#logger = of.logger;
    this.#onProgress = of.onProgress;
  }

  start(): void {
    this.#working = this.#work();
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await this.#working;
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE` */
  async look(): Promise<number> {
    let unopenable = 0;
    for (const range of this.#vault.unopenableRanges()) {
      unopenable += await this.#seals.countBetween(range);
    }
    this.#onProgress({ waiting: 0, unopenable });
    // Logged once when it begins; after that the count is a metric.
    if (unopenable > 0 && !this.#told)
      this.#logger.error(missingKey(unopenable), 'tokens.unopenable');
    this.#told = unopenable > 0;
    return unopenable;
  }

  async #work(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await this.look().catch((error: unknown) => {
        this.#logger.warn({ err: error, note: 'tried again in a minute' }, 'tokens.not_counted');
      });
      // Rejects if aborted: the process is shutting down.
      await pause(LOOK_AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
