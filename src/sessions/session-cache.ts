import { z } from 'zod';
import { recentMap } from '../lib/recent.ts';
import type { Accelerator } from '../redis/accelerator.ts';
import type { Session } from './session.ts';
import type { Binding, TokenVault } from './token-vault.ts';

/**
 * How long reads may live on a cached session. It also bounds how long the end of a session may be
 * overlooked by profile and balance when Redis never hears of it; a place always asks PostgreSQL.
 */
export const CACHED_MS_MAX = 15 * 60_000;

/** Sessions whose text need not be read anew. */
const READ_MAX = 10_000;

/** In place of a session: ask PostgreSQL. */
const ASK_THE_STORE = '-';

const cachedSession = z.strictObject({
  databaseId: z.string(),
  sessionId: z.string(),
  operatorId: z.string(),
  playerId: z.string(),
  userId: z.string(),
  operatorUser: z.string(),
  currency: z.string(),
  sealedToken: z.string(),
  expiresAtMs: z.number(),
});

type CachedSession = z.infer<typeof cachedSession>;

/**
 * Live sessions in Redis, so that the many balance calls spare PostgreSQL. A gateway on another database may share it: a
 * session that it has put there counts for nothing here, while its marks only send us to PostgreSQL.
 */
export class SessionCache {
  readonly #accelerator: Accelerator;
  readonly #databaseId: string;
  readonly #vault: TokenVault;
  /** What was read last under a key. Whether it still stands there, only Redis says. */
  readonly #read = recentMap<{ readonly text: string; readonly session: Session }>(READ_MAX);

  constructor(accelerator: Accelerator, databaseId: string, vault: TokenVault) {
    this.#accelerator = accelerator;
    this.#databaseId = databaseId;
    this.#vault = vault;
  }

  /** @returns undefined too for what cannot be read, or was sealed with a key that is gone */
  async find(tokenHash: Buffer): Promise<Session | undefined> {
    const key = keyOf(tokenHash);
    const text = await this.#accelerator.get(key);
    if (text === undefined || text === ASK_THE_STORE) return undefined;
    // The same text means the same session; to read it costs more than to sign a call.
    const before = this.#read.get(key);
    if (before?.text === text) return before.session;
    const session = this.#sessionIn(text, tokenHash);
    if (session !== undefined) this.#read.set(key, { text, session });
    return session;
  }

  #sessionIn(text: string, tokenHash: Buffer): Session | undefined {
    const cached = read(text);
    if (cached?.databaseId !== this.#databaseId) return undefined;
    const opened = this.#vault.open(
      Buffer.from(cached.sealedToken, 'base64'),
      bindingOf(tokenHash, cached),
    );
    if (opened.kind === 'unopenable') return undefined;
    const { sessionId, operatorId, playerId, userId, operatorUser, currency, expiresAtMs } = cached;
    return {
      sessionId,
      owner: { operatorId, playerId, userId, operatorUser },
      currency,
      operatorToken: opened.text,
      expiresAtMs,
    };
  }

  /** Never overwrites the mark that a revocation leaves. */
  async remember(tokenHash: Buffer, session: Session, nowMs: number): Promise<void> {
    const ttlMs = Math.min(CACHED_MS_MAX, session.expiresAtMs - nowMs);
    if (ttlMs < 1) return;
    const { sessionId, owner, currency, expiresAtMs } = session;
    const facts = { databaseId: this.#databaseId, sessionId, ...owner, currency, expiresAtMs };
    const sealed = this.#vault.seal(session.operatorToken, bindingOf(tokenHash, facts));
    const value: CachedSession = { ...facts, sealedToken: sealed.toString('base64') };
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

  /** @param listener told each time that Redis is there again: perhaps with what it held some time ago */
  onReturn(listener: () => void): void {
    this.#accelerator.onReturn(listener);
  }
}

function read(text: string): CachedSession | undefined {
  try {
    return cachedSession.safeParse(JSON.parse(text)).data;
  } catch {
    // Half a value or another program's: PostgreSQL knows better.
    return undefined;
  }
}

/** Whose session it is cannot be changed in Redis without the token becoming unreadable. */
function bindingOf(tokenHash: Buffer, facts: Omit<CachedSession, 'sealedToken'>): Binding {
  const { databaseId, sessionId, operatorId, playerId, userId, operatorUser } = facts;
  return [
    'cached session',
    tokenHash.toString('base64url'),
    databaseId,
    sessionId,
    operatorId,
    playerId,
    userId,
    operatorUser,
    facts.currency,
    String(facts.expiresAtMs),
  ];
}

function keyOf(tokenHash: Buffer): string {
  return `session:${tokenHash.toString('base64url')}`;
}
