import { z } from 'zod';
import { jsonIn } from '../lib/json-in.ts';
import { recentMap } from '../lib/recent.ts';
import type { Accelerator } from '../redis/accelerator.ts';
import type { Session } from './session.ts';
import type { Binding, TokenVault } from './token-vault.ts';

/** How long reads may use a cached session, and overlook its end without Redis; a place asks PostgreSQL. */
export const CACHED_MS_MAX = 15 * 60_000;

/** How many parsed sessions are kept in memory. */
const READ_MAX = 10_000;

/** Marks a token whose session must be read from PostgreSQL. */
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

/** Live sessions in Redis, to keep balance calls off PostgreSQL. Another database's are ignored. */
export class SessionCache {
  readonly #accelerator: Accelerator;
  readonly #databaseId: string;
  readonly #vault: TokenVault;
  /** The last parsed value of each key; used only if Redis still has the same text. */
  readonly #read = recentMap<{ readonly text: string; readonly session: Session }>(READ_MAX);

  constructor(accelerator: Accelerator, databaseId: string, vault: TokenVault) {
    this.#accelerator = accelerator;
    this.#databaseId = databaseId;
    this.#vault = vault;
  }

  /** @returns undefined if it is not cached, cannot be read, or was sealed with a missing key */
  async find(tokenHash: Buffer): Promise<Session | undefined> {
    const key = keyOf(tokenHash);
    const text = await this.#accelerator.get(key);
    if (text === undefined || text === ASK_THE_STORE) return undefined;
    // The same text means the same session; parsing it costs more than signing a call.
    const before = this.#read.get(key);
    if (before?.text === text) return before.session;
    const session = this.#sessionIn(text, tokenHash);
    if (session !== undefined) this.#read.set(key, { text, session });
    return session;
  }

  #sessionIn(text: string, tokenHash: Buffer): Session | undefined {
    // A truncated value, or another program's, is none: PostgreSQL decides.
    const cached = cachedSession.safeParse(jsonIn(text)).data;
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

  /** Caches a session; never overwrites the mark set by `distrust`. Nobody has to wait until Redis has it. */
  remember(tokenHash: Buffer, session: Session, nowMs: number): void {
    const ttlMs = Math.min(CACHED_MS_MAX, session.expiresAtMs - nowMs);
    if (ttlMs < 1) return;
    const { sessionId, owner, currency, expiresAtMs } = session;
    const facts = { databaseId: this.#databaseId, sessionId, ...owner, currency, expiresAtMs };
    const sealed = this.#vault.seal(session.operatorToken, bindingOf(tokenHash, facts));
    const value: CachedSession = { ...facts, sealedToken: sealed.toString('base64') };
    void this.#accelerator.setIfAbsent(keyOf(tokenHash), JSON.stringify(value), Math.ceil(ttlMs));
  }

  /**
   * Makes every reader look this token up in PostgreSQL from now on. Call it before the end is committed.
   * @returns whether Redis has confirmed it
   */
  async distrust(tokenHash: Buffer): Promise<boolean> {
    return await this.#accelerator.set(keyOf(tokenHash), ASK_THE_STORE, CACHED_MS_MAX);
  }

  /** @param listener called each time Redis is reachable again, perhaps with old data */
  onReturn(listener: () => void): void {
    this.#accelerator.onReturn(listener);
  }
}

/** Binds the sealed token to the session's facts: if they are changed in Redis, it cannot be opened. */
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
