import { setTimeout as pause } from 'node:timers/promises';
import type { SessionSeals } from '../store/sessions/session-seals.ts';
import type { Logger } from '../telemetry/logger.ts';
import { missingKey, type ResealProgress } from './resealing.ts';
import type { TokenVault } from './token-vault.ts';

const LOOK_AGAIN_MS = 60_000;

interface Watching {
  readonly seals: Pick<SessionSeals, 'countBetween'>;
  readonly vault: Pick<TokenVault, 'unopenableRanges'>;
  readonly logger: Logger;
  readonly onProgress: (progress: ResealProgress) => void;
}

/**
 * Counts the sessions whose key is missing, in a process that does not reseal: one that only answers callbacks,
 * or has no key at all. Its `ENCRYPTION_KEY` may differ from that of other processes.
 */
export class UnopenableWatch {
  readonly #watching: Watching;
  readonly #ended = new AbortController();
  #working: Promise<void> = Promise.resolve();
  #told = false;

  constructor(watching: Watching) {
    this.#watching = watching;
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
    const { seals, vault, logger, onProgress } = this.#watching;
    let unopenable = 0;
    for (const range of vault.unopenableRanges()) unopenable += await seals.countBetween(range);
    onProgress({ waiting: 0, unopenable });
    // Logged once when it begins; after that the count is a metric.
    if (unopenable > 0 && !this.#told) logger.error(missingKey(unopenable), 'tokens.unopenable');
    this.#told = unopenable > 0;
    return unopenable;
  }

  async #work(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await this.look().catch((error: unknown) => {
        this.#watching.logger.warn(
          { err: error, note: 'tried again in a minute' },
          'tokens.not_counted',
        );
      });
      // Rejects if aborted: the process is shutting down.
      await pause(LOOK_AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
