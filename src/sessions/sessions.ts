import type { BetOwner } from '../domain/bet.ts';
import type { Clock } from '../domain/clock.ts';
import { GatewayError } from '../domain/errors.ts';
import { recentMap } from '../lib/recent.ts';
import type { Authority } from '../store/audit/audited.ts';
import type { RepeatableRequest, SessionRow } from '../store/sessions/session-rows.ts';
import type { SessionStore } from '../store/sessions/session-store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Session, SessionLookup } from './session.ts';
import type { SessionCache } from './session-cache.ts';
import { SessionEnds } from './session-end.ts';
import {
  operatorTokenOf,
  ownTokenOf,
  type StoredToken,
  sealOperatorToken,
} from './stored-token.ts';
import type { TokenVault } from './token-vault.ts';

const ROUTES_MAX = 100_000;

export interface OpenedSession {
  readonly session: Session;
  /** The token that the operator passes to the frame. */
  readonly token: string;
}

/** The facts a session is opened with, or that a profile confirmed. */
export interface RequestedSession {
  readonly owner: BetOwner;
  readonly currency: string;
  readonly operatorToken: string;
  readonly ttlSeconds: number;
}

export interface SessionsOptions {
  readonly store: SessionStore;
  readonly cache: SessionCache;
  readonly vault: TokenVault;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sessions: found by token, opened for operators, learnt from profiles, ended. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #ends: SessionEnds;
  /** Caches what never changes about a session. Never use it to decide whether a session is live. */
  readonly #routes = recentMap<Session>(ROUTES_MAX);

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#ends = new SessionEnds(options);
  }

  /** Whose token this is, live or not: a place's journal statement checks that. @throws GatewayError */
  async route(token: string): Promise<SessionLookup> {
    const known = this.#routes.get(token);
    return known === undefined ? await this.findCertain(token) : { kind: 'live', session: known };
  }

  /** For reads: from Redis if possible. @throws GatewayError if the token is not cached */
  async find(token: string): Promise<SessionLookup> {
    const { cache, vault, clock } = this.#options;
    const hash = vault.hash(token);
    const cached = await cache.find(hash);
    // A session whose cached copy has expired may have been renewed since: PostgreSQL decides.
    if (cached !== undefined && cached.expiresAtMs > clock.nowMs()) {
      return { kind: 'live', session: cached };
    }
    const found = await this.findCertain(token);
    if (found.kind === 'live') cache.remember(hash, found.session, clock.nowMs());
    return found;
  }

  /** The session's present state in PostgreSQL. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async findCertain(token: string): Promise<SessionLookup> {
    const found = await this.#findByHash(this.#options.vault.hash(token));
    if (found.kind !== 'unknown') this.#routes.set(token, found.session);
    return found;
  }

  /** The form in which a token is stored. */
  hashOf(token: string): Buffer {
    return this.#options.vault.hash(token);
  }

  /** Replaces a token in a stored message, because tokens are stored as hashes only. */
  referenceOf(token: string): string {
    return this.#options.vault.reference(token);
  }

  /** By a stored message's token, or the reference that replaced it. @throws GatewayError */
  async findKept(tokenOrReference: string): Promise<SessionLookup> {
    const hash = this.#options.vault.hashOfReference(tokenOrReference);
    return hash === undefined
      ? await this.findCertain(tokenOrReference)
      : await this.#findByHash(hash);
  }

  async #findByHash(hash: Buffer): Promise<SessionLookup> {
    const row = await this.#options.store.findByTokenHash(hash);
    if (row === undefined) return { kind: 'unknown' };
    const session = this.#sessionOf(row);
    if (row.ended_reason !== undefined) return { kind: 'ended', reason: row.ended_reason, session };
    return { kind: row.expired ? 'expired' : 'live', session };
  }

  /**
   * The operator token of a session, ended or not. Undefined without such a session, or if the token cannot be
   * decrypted: a promised operation must not wait for a lost key. @throws GatewayError
   */
  async operatorTokenOf(sessionId: string): Promise<string | undefined> {
    const row = await this.#options.store.findById(sessionId);
    return row === undefined
      ? undefined
      : this.unseal({ sealed: row.operator_token, tokenHash: row.token_hash });
  }

  /** Opens an operator token as stored in `sessions`; undefined, and logged, if that fails. */
  unseal(stored: StoredToken): string | undefined {
    const opened = operatorTokenOf(this.#options.vault, stored);
    if (opened.kind === 'opened') return opened.text;
    this.#options.logger.error(
      { why: opened.why, note: 'the call that needed it goes without a token' },
      'session.token_unopenable',
    );
    return undefined;
  }

  /**
   * The live session of (player, currency, operator token), opened if there is none; never extended.
   * @param request if it could be replayed
   * @returns undefined if that request was given a session that has been revoked since @throws GatewayError
   */
  async open(
    { owner, currency, operatorToken, ttlSeconds }: RequestedSession,
    request?: RepeatableRequest,
  ): Promise<OpenedSession | undefined> {
    const { store, vault } = this.#options;
    const { operatorId, playerId } = owner;
    const operatorTokenHash = vault.hash(operatorToken);
    for (;;) {
      const last = await store.findNewest(owner, currency, operatorTokenHash, request?.hash);
      const { newest } = last;
      // Even if a newer request has opened another session since: this sender must not get it.
      if (newest?.was_revoked) return undefined;
      if (newest !== undefined && newest.ended_reason === undefined && !newest.expired) {
        const token = ownTokenOf(vault, newest, operatorToken);
        // If its key is missing, the token cannot be returned again: another session is opened.
        if (token !== undefined) {
          if (request && !newest.was_given) await store.noteGiven(newest.id, request);
          return { session: sessionOf(newest, operatorToken), token };
        }
      }
      const ordinal = last.lastOrdinal + 1;
      const token = vault.make({ operatorId, playerId, currency, operatorToken, ordinal });
      const tokenHash = vault.hash(token);
      const made = await store.insert({
        player: owner,
        operatorId,
        currency,
        tokenHash,
        token: vault.hasKey ? undefined : token,
        operatorToken: sealOperatorToken(vault, operatorToken, tokenHash),
        operatorTokenHash,
        ordinal,
        ttlSeconds,
        isIssued: true,
        givenTo: request,
      });
      // No row: a concurrent identical request was faster; the next round finds its session.
      if (made !== undefined) return { session: sessionOf(made, operatorToken), token };
    }
  }

  /**
   * Opens or renews the session of a prefixed token that a profile confirmed; reseals it if its key is missing.
   * @returns undefined if the token already belongs to another player or currency @throws GatewayError
   */
  async learn(
    token: string,
    { owner, currency, operatorToken, ttlSeconds }: RequestedSession,
  ): Promise<Session | undefined> {
    const { store, vault } = this.#options;
    const tokenHash = vault.hash(token);
    const operatorTokenHash = vault.hash(operatorToken);
    const known = await store.findByTokenHash(tokenHash);
    if (known === undefined) {
      const { lastOrdinal } = await store.findNewest(owner, currency, operatorTokenHash);
      await store.insert({
        player: owner,
        operatorId: owner.operatorId,
        currency,
        tokenHash,
        token: undefined,
        operatorToken: sealOperatorToken(vault, operatorToken, tokenHash),
        operatorTokenHash,
        ordinal: lastOrdinal + 1,
        ttlSeconds,
        isIssued: false,
      });
    } else if (known.player_id === owner.playerId && known.currency === currency) {
      const stored = { sealed: known.operator_token, tokenHash };
      const isOpenable = operatorTokenOf(vault, stored).kind === 'opened';
      const sealed = isOpenable ? undefined : sealOperatorToken(vault, operatorToken, tokenHash);
      await store.renew(known.id, ttlSeconds, sealed);
    }
    const found = await this.findCertain(token);
    const fits =
      found.kind === 'live' &&
      found.session.owner.playerId === owner.playerId &&
      found.session.currency === currency;
    return fits ? found.session : undefined;
  }

  /** Ends a session whose wallet now reports another currency. @throws GatewayError */
  async endForCurrency(token: string, session: Session): Promise<void> {
    const { store, vault } = this.#options;
    const tokenHash = vault.hash(token);
    // Not by id: this session may come from Redis, while a failover has lost its row.
    await this.#ends.commit(session.owner.operatorId, [tokenHash], () =>
      store.end(tokenHash, 'currency'),
    );
  }

  /**
   * Revokes one session by token, or all of a player; another operator's are not found.
   * @param by the person who decided it; undefined: the operator itself
   * @returns how many: live ones, and expired ones that a profile could have renewed @throws GatewayError
   */
  async revoke(
    operatorId: string,
    which: { readonly token: string } | { readonly operatorUser: string },
    by?: Authority,
  ): Promise<number> {
    const { store, vault } = this.#options;
    const live = await store.findLive(
      operatorId,
      'token' in which ? { tokenHash: vault.hash(which.token) } : which,
    );
    if (live.length === 0) return 0;
    const hashes = live.map((row) => row.token_hash);
    const ids = live.map((row) => row.id);
    return await this.#ends.commit(operatorId, hashes, () => store.revoke(operatorId, ids, by));
  }

  /** @throws GatewayError `TOKEN_UNOPENABLE` */
  #sessionOf(row: SessionRow): Session {
    const stored = { sealed: row.operator_token, tokenHash: row.token_hash };
    const opened = operatorTokenOf(this.#options.vault, stored);
    if (opened.kind === 'opened') return sessionOf(row, opened.text);
    throw new GatewayError('TOKEN_UNOPENABLE', `the token of session ${row.id}: ${opened.why}`);
  }
}

function sessionOf(row: SessionRow, operatorToken: string): Session {
  return {
    sessionId: row.id,
    owner: {
      operatorId: row.operator_id,
      playerId: row.player_id,
      userId: row.user_id,
      operatorUser: row.operator_user,
    },
    currency: row.currency,
    operatorToken,
    expiresAtMs: row.expires_at.getTime(),
  };
}
