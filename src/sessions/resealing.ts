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
/** Between batches: callbacks come first. */
const PAUSE_MS = 50;
/** Replicas that still seal with an older key may write at any time while a roll-out goes on. */
const LOOK_AGAIN_MS = 60_000;
/** Nothing but what cannot be opened is left: that changes only by a restart or by a person. */
const LOOK_RARELY_MS = 3_600_000;
const TELL_EVERY_MS = 10_000;

/** How far a walk has come; both count sessions. */
export interface ResealProgress {
  /** Sealed by another key than the first of `ENCRYPTION_KEY`, or not at all, and to be opened. */
  readonly waiting: number;
  /** Their key is not there. */
  readonly unopenable: number;
}

export interface ResealingOptions {
  readonly seals: SessionSeals;
  readonly vault: TokenVault;
  readonly logger: Logger;
  readonly onProgress: (progress: ResealProgress) => void;
}

/**
 * Seals the tokens of all sessions with the first key, so that older keys may be taken out of
 * `ENCRYPTION_KEY` without losing one. Any number of replicas may do it, also with different keys:
 * a session that another has changed in between is left alone, and looked at again.
 */
export class Resealing {
  readonly #options: ResealingOptions;
  readonly #ended = new AbortController();
  #working: Promise<void> = Promise.resolve();

  constructor(options: ResealingOptions) {
    this.#options = options;
  }

  /** Walks now, and again and again until `close`. Without a key there is nothing to do. */
  start(): void {
    if (this.#options.vault.hasKey) this.#working = this.#work();
  }

  /** Ends after the batch under way. */
  async close(): Promise<void> {
    this.#ended.abort();
    await this.#working;
  }

  /**
   * One walk over everything that is sealed otherwise.
   * @returns how many sessions were sealed anew, and how many cannot be
   * @throws GatewayError `DATABASE_UNAVAILABLE`
   */
  async walk(): Promise<{ readonly resealed: number; readonly unopenable: number }> {
    const { seals, vault, logger, onProgress } = this.#options;
    const mark = vault.sealMark;
    if (mark === undefined) return { resealed: 0, unopenable: 0 };
    const behind = await seals.countBehind(mark);
    let [position, resealed, unopenable, toldAtMs] = [FIRST_POSITION, 0, 0, performance.now()];
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
      if (performance.now() - toldAtMs >= TELL_EVERY_MS) {
        logger.info({ resealed, waiting, unopenable }, 'tokens.resealing');
        toldAtMs = performance.now();
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
    while (!this.#ended.signal.aborted) await this.#pause(await this.#walkQuietly());
  }

  /** @returns milliseconds until the next walk */
  async #walkQuietly(): Promise<number> {
    const { logger } = this.#options;
    try {
      const { resealed, unopenable } = await this.walk();
      if (resealed > 0) logger.info({ resealed, unopenable }, 'tokens.resealed');
      if (unopenable > 0) {
        logger.error(missingKey(unopenable), 'tokens.unopenable');
      }
      return resealed === 0 && unopenable > 0 ? LOOK_RARELY_MS : LOOK_AGAIN_MS;
    } catch (error) {
      logger.warn({ err: error, note: 'tried again in a minute' }, 'tokens.not_resealed');
      return LOOK_AGAIN_MS;
    }
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#ended;
    // Aborted: the process is on its way out, and there is nothing more to wait for.
    await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** What a log line says of sessions that cannot be opened. */
export function missingKey(unopenable: number) {
  return { unopenable, note: 'put the key that sealed them back into ENCRYPTION_KEY, or plain' };
}

/** @returns undefined where its token cannot be opened */
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

/** Sealed where the first key alone could not give a session's own token again. */
function ownSealed(vault: TokenVault, row: SealedRow, operatorToken: string): Buffer | undefined {
  if (vault.isMadeNow(identityOf(row, operatorToken), row.token_hash)) return undefined;
  const own = ownTokenOf(vault, row, operatorToken);
  // Unknown here: a prefixed one, which nobody asks for; or sealed by a key that may come back.
  if (own === undefined) return row.sealed_token;
  return sealOwnToken(vault, own, row.token_hash);
}
