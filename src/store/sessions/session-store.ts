import { GatewayError } from '../../domain/errors.ts';
import type { Authority } from '../audit/audited.ts';
import type { Database } from '../database.ts';
import { type LookUp, sharedLookUp } from '../sql/shared-look-up.ts';
import {
  LIVE_BY_PLAYER,
  LIVE_BY_TOKEN,
  type LiveSession,
  REVOKE,
  REVOKE_BY_PERSON,
} from './revoke-statements.ts';
import type {
  CertainPlayer,
  EndedReason,
  KindOfSession,
  NewSession,
  RepeatableRequest,
  SessionRow,
} from './session-rows.ts';
import {
  END,
  FIND_BY_IDS,
  FIND_BY_TOKEN_HASHES,
  FIND_NEWEST,
  INSERT,
  NOTE_GIVEN,
  RENEW,
} from './session-statements.ts';

/** Rows of `sessions`. Every method throws GatewayError `DATABASE_UNAVAILABLE`. */
export class SessionStore {
  readonly #database: Database;
  readonly #findByHash: LookUp<SessionRow>;
  /** Finds ended sessions too, because a bet keeps the operator token it was placed with. Every rollback needs it. */
  readonly findById: LookUp<SessionRow>;

  constructor(database: Database) {
    this.#database = database;
    this.#findByHash = sharedLookUp(database, FIND_BY_TOKEN_HASHES, (row) => hex(row.token_hash));
    this.findById = sharedLookUp(database, FIND_BY_IDS, ({ id }) => id);
  }

  async findByTokenHash(tokenHash: Buffer): Promise<SessionRow | undefined> {
    return await this.#findByHash(hex(tokenHash));
  }

  /**
   * The newest session of one player, currency and operator token, ended or not, and the last ordinal.
   * @param request SHA-256 of the request; undefined if it cannot be replayed
   * @throws GatewayError `DATABASE_UNAVAILABLE` also if the player is not there: a failover has lost it meanwhile
   */
  async findNewest(
    player: CertainPlayer,
    currency: string,
    operatorTokenHash: Buffer,
    request?: Buffer,
  ): Promise<KindOfSession> {
    const asked = { player, currency, operatorTokenHash, request };
    const [found] = await this.#database.run(FIND_NEWEST, asked);
    if (found !== undefined) return found;
    throw new GatewayError('DATABASE_UNAVAILABLE', 'the player of the session was lost meanwhile');
  }

  /** Records that a session was given to one more request, even if it is revoked at that moment. */
  async noteGiven(id: string, request: RepeatableRequest): Promise<void> {
    await this.#database.run(NOTE_GIVEN, { id, request });
  }

  /** @returns undefined if a session with the same ordinal or token already exists, or the player is not there */
  async insert(session: NewSession): Promise<SessionRow | undefined> {
    return (await this.#database.run(INSERT, session))[0];
  }

  /** Makes a live session last `ttlSeconds` from now. @param operatorToken resealed; undefined: unchanged */
  async renew(id: string, ttlSeconds: number, operatorToken: Buffer | undefined): Promise<void> {
    await this.#database.run(RENEW, { id, ttlSeconds, operatorToken });
  }

  async end(tokenHash: Buffer, reason: EndedReason): Promise<void> {
    await this.#database.run(END, { tokenHash, reason });
  }

  /** The ids and token hashes of an operator's sessions that a revocation would end. */
  async findLive(
    operatorId: string,
    which: { readonly tokenHash: Buffer } | { readonly operatorUser: string },
  ): Promise<readonly LiveSession[]> {
    return 'tokenHash' in which
      ? await this.#database.run(LIVE_BY_TOKEN, { operatorId, tokenHash: which.tokenHash })
      : await this.#database.run(LIVE_BY_PLAYER, { operatorId, operatorUser: which.operatorUser });
  }

  /** @returns how many of these it ended */
  async revoke(operatorId: string, ids: readonly string[], by?: Authority): Promise<number> {
    const ended =
      by === undefined
        ? await this.#database.run(REVOKE, { operatorId, ids })
        : await this.#database.run(REVOKE_BY_PERSON, { operatorId, ids, by });
    return ended.length;
  }
}

const hex = (bytes: Buffer): string => bytes.toString('hex');
