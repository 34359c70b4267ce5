import { setTimeout as pause } from 'node:timers/promises';
import {
  FIRST_POSITION,
  type Resealed,
  type SealedRow,
  type SessionSeals,
} from '../store/sessions/session-seals.ts';
import type { Logger } from '../telemetry/logger.ts';
import {
  identityOf,
  operatorTokenOf,
  ownTokenOf,
  sealOperatorToken,
  sealOwnToken,
} from './stored-token.ts';
import type { TokenVault } from './token-vault.ts';

const BATCH = 200;
/** Pause between batches, because callbacks come first. */
const PAUSE_MS = 50;
/** Pause between walks: during a roll-out, replicas that still seal with an older key may write at any time. */
const WALK_AGAIN_MS = 60_000;
/** If only tokens that cannot be opened are left: only a restart or a person changes that. */
const WALK_RARELY_MS = 3_600_000;
const LOG_EVERY_MS = 10_000;

/** The progress of a walk; both count sessions. */
export interface ResealProgress {
  /** Can be opened, but not sealed by the first key of `ENCRYPTION_KEY`. */
  readonly waiting: number;
  /** Sealed with a key that is missing. */
  readonly unopenable: number;
}

export interface ResealingOptions {
  readonly seals: SessionSeals;
  readonly vault: TokenVault;
  readonly logger: Logger;
  readonly onProgress: (progress: ResealProgress) => void;
}

/**
 * Seals the tokens of all sessions with the first key, so that older keys can be removed. Any number of replicas
 * may run it: a session changed in between is read again in the next walk.
 */
export class Resealing {
  readonly #options: ResealingOptions;
  readonly #ended = new AbortController();
  #working: Promise<void> = Promise.resolve();

  constructor(options: ResealingOptions) {
    this.#options = options;
  }

  /** Walks repeatedly until `close`. Without a key there is nothing to do. */
  start(): void {
    if (this.#options.vault.hasKey) this.#working = this.#work();
  }

  /** Resolves after the batch in progress. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#working;
  }

  /**
   * One walk over all sessions not sealed with the first key. @throws GatewayError `DATABASE_UNAVAILABLE`
   * @returns how many sessions were resealed, and how many cannot be
   */
  async walk(): Promise<{ readonly resealed: number; readonly unopenable: number }> {
    const { seals, vault, logger, onProgress } = this.#options;
    const mark = vault.sealMark;
    if (mark === undefined) return { resealed: 0, unopenable: 0 };
    const behind = await seals.countBehind(mark);
    let [position, resealed, unopenable, loggedAtMs] = [FIRST_POSITION, 0, 0, performance.now()];
    while (!this.#ended.signal.aborted) {
      const rows = await seals.findBehind(mark, position, BATCH);
      const last = rows.at(-1);
      if (last === undefined) break;
      const fresh = rows.flatMap((row) => resealedOf(vault, row) ?? []);
      unopenable += rows.length - fresh.length;
      if (fresh.length > 0) resealed += await seals.reseal(fresh);
      position = { mark: last.mark, id: last.id };
      const waiting = Math.max(0, behind - resealed - unopenable);
      onProgress({ waiting, unopenable });
      if (performance.now() - loggedAtMs >= LOG_EVERY_MS) {
        logger.info({ resealed, waiting, unopenable }, 'tokens.resealing');
        loggedAtMs = performance.now();
      }
      await this.#pause(PAUSE_MS);
    }
    if (!this.#ended.signal.aborted) {
      const left = (await seals.countBehind(mark)) - unopenable;
      onProgress({ waiting: Math.max(0, left), unopenable });
    }
    return { resealed, unopenable };
  }

  async #work(): Promise<void> {
    while (!this.#ended.signal.aborted) await this.#pause(await this.#walkAndLog());
  }

  /** @returns milliseconds until the next walk */
  async #walkAndLog(): Promise<number> {
    const { logger } = this.#options;
    try {
      const { resealed, unopenable } = await this.walk();
      if (resealed > 0) logger.info({ resealed, unopenable }, 'tokens.resealed');
      if (unopenable > 0) {
        const note = 'put the key that sealed them back into ENCRYPTION_KEY, or plain';
        logger.error({ unopenable, note }, 'tokens.unopenable');
      }
      return resealed === 0 && unopenable > 0 ? WALK_RARELY_MS : WALK_AGAIN_MS;
    } catch (error) {
      logger.warn({ err: error, note: 'tried again in a minute' }, 'tokens.not_resealed');
      return WALK_AGAIN_MS;
    }
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#ended;
    // Rejects if aborted: the process is shutting down.
    await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** @returns undefined if the operator token cannot be opened */
function resealedOf(vault: TokenVault, row: SealedRow): Resealed | undefined {
  const { id, operator_token: was, token_hash: tokenHash } = row;
  const opened = operatorTokenOf(vault, { sealed: was, tokenHash });
  if (opened.kind === 'unopenable') return undefined;
  return {
    id,
    was,
    operatorToken: sealOperatorToken(vault, opened.text, tokenHash),
    sealedToken: row.live ? ownSealed(vault, row, opened.text) : undefined,
  };
}

/** The session's own token, sealed if the first key cannot derive it again. */
function ownSealed(vault: TokenVault, row: SealedRow, operatorToken: string): Buffer | undefined {
  if (vault.isMadeNow(identityOf(row, operatorToken), row.token_hash)) return undefined;
  const own = ownTokenOf(vault, row, operatorToken);
  // Not available: a prefixed token, which is never asked for, or one sealed with a key that may return.
  if (own === undefined) return row.sealed_token;
  return sealOwnToken(vault, own, row.token_hash);
}
