import { z } from 'zod';
import type { Accelerator } from '../redis/accelerator.ts';
import type { Session } from './session.ts';
import type { TokenVault } from './token-vault.ts';

/**
 * How long reads may live on a cached session. It also bounds how long the end of a session may be
 * overlooked by profile and balance when Redis never hears of it; a place always asks PostgreSQL.
 */
export const CACHED_MS_MAX = 15 * 60_000;

/** In place of a session: ask PostgreSQL. */
const ASK_THE_STORE = '-';

const cachedSession = z.strictObject({
  sessionId: z.string(),
  operatorId: z.string(),
  playerId: z.string(),
  userId: z.string(),
  operatorUser: z.string(),
  currency: z.string(),
  sealedToken: z.string(),
  expiresAtMs: z.number(),
});

/** Live sessions in Redis, so that the many balance calls spare PostgreSQL. */
export class SessionCache {
  readonly #accelerator: Accelerator;
  readonly #vault: TokenVault;

  constructor(accelerator: Accelerator, vault: TokenVault) {
    this.#accelerator = accelerator;
    this.#vault = vault;
  }

  async find(tokenHash: Buffer): Promise<Session | undefined> {
    const text = await this.#accelerator.get(keyOf(tokenHash));
    if (text === undefined || text === ASK_THE_STORE) return undefined;
    const { sealedToken, operatorId, playerId, userId, operatorUser, ...rest } =
      cachedSession.parse(JSON.parse(text));
    return {
      ...rest,
      owner: { operatorId, playerId, userId, operatorUser },
      operatorToken: this.#vault.unseal(Buffer.from(sealedToken, 'base64')),
    };
  }

  /** Never overwrites the mark that a revocation leaves. */
  async remember(tokenHash: Buffer, session: Session, nowMs: number): Promise<void> {
    const ttlMs = Math.min(CACHED_MS_MAX, session.expiresAtMs - nowMs);
    if (ttlMs < 1) return;
    const value: z.infer<typeof cachedSession> = {
      sessionId: session.sessionId,
      ...session.owner,
      currency: session.currency,
      sealedToken: this.#vault.seal(session.operatorToken).toString('base64'),
      expiresAtMs: session.expiresAtMs,
    };
    await this.#accelerator.setIfAbsent(keyOf(tokenHash), JSON.stringify(value), Math.ceil(ttlMs));
  }

  /**
   * From now on this token is looked up in PostgreSQL, also by a reader that fetched the session
   * just before it ended. Call it before the end is committed.
   * @returns whether Redis has confirmed it
   */
  async distrust(tokenHash: Buffer): Promise<boolean> {
    return await this.#accelerator.set(keyOf(tokenHash), ASK_THE_STORE, CACHED_MS_MAX);
  }
}

function keyOf(tokenHash: Buffer): string {
  return `session:${tokenHash.toString('base64url')}`;
}
