import type { Database } from '../database.ts';
import type { Statement } from '../statement.ts';

/** A session as PostgreSQL holds it; `over` is judged by its clock. */
export interface SessionRow {
  readonly id: string;
  readonly player_id: string;
  readonly operator_id: string;
  readonly currency: string;
  readonly token_hash: Buffer;
  readonly operator_token: Buffer;
  readonly token: string | null;
  readonly sealed_token: Buffer | null;
  readonly ordinal: number;
  readonly expires_at: Date;
  readonly ended_reason: 'revoked' | 'currency' | null;
  readonly expired: boolean;
  readonly user_id: string;
  readonly operator_user: string;
}

/** The newest session of a kind, and what the request that asks has to do with it. */
export interface NewestSession extends SessionRow {
  /** Whether this very request was given the session before. */
  readonly was_given: boolean;
  /** Whether it was given one of the same kind that was revoked since. */
  readonly was_revoked: boolean;
}

export interface NewSession {
  readonly playerId: string;
  readonly operatorId: string;
  readonly currency: string;
  readonly tokenHash: Buffer;
  /** Only where it cannot be derived again. */
  readonly token: string | undefined;
  readonly operatorToken: Buffer;
  readonly operatorTokenHash: Buffer;
  readonly ordinal: number;
  readonly ttlSeconds: number;
  /** SHA-256 of the request that opens it, where that could be sent again. */
  readonly givenTo?: Buffer | undefined;
}

/** Rows of `sessions`. Every method throws GatewayError `DATABASE_UNAVAILABLE`. */
export class SessionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async findByTokenHash(tokenHash: Buffer): Promise<SessionRow | undefined> {
    return (await this.#database.query<SessionRow>(FIND_BY_TOKEN_HASH, [tokenHash]))[0];
  }

  /** Also when it has ended: a bet keeps the operator token it was placed with. */
  async findById(id: string): Promise<SessionRow | undefined> {
    return (await this.#database.query<SessionRow>(FIND_BY_ID, [id]))[0];
  }

  /**
   * The newest session of one player, currency and operator token, ended or not.
   * @param request SHA-256 of the request that asks; undefined for one that cannot come again
   */
  async findNewest(
    playerId: string,
    currency: string,
    operatorTokenHash: Buffer,
    request?: Buffer,
  ): Promise<NewestSession | undefined> {
    const values = [playerId, currency, operatorTokenHash, request ?? null];
    return (await this.#database.query<NewestSession>(FIND_NEWEST, values))[0];
  }

  /** Notes that a live session was given to one more request. */
  async noteGiven(id: string, request: Buffer): Promise<void> {
    await this.#database.query(NOTE_GIVEN, [id, request]);
  }

  /** @returns undefined when a session of the same ordinal or token was first */
  async insert(session: NewSession): Promise<SessionRow | undefined> {
    return (
      await this.#database.query<SessionRow>(INSERT, [
        session.playerId,
        session.operatorId,
        session.currency,
        session.tokenHash,
        session.token ?? null,
        session.operatorToken,
        session.operatorTokenHash,
        session.ordinal,
        session.ttlSeconds,
        session.givenTo === undefined ? [] : [session.givenTo],
      ])
    )[0];
  }

  /** Gives a session that has not ended `ttlSeconds` from now on. */
  async renew(id: string, ttlSeconds: number): Promise<void> {
    await this.#database.query(RENEW, [id, ttlSeconds]);
  }

  async end(id: string, reason: 'revoked' | 'currency'): Promise<void> {
    await this.#database.query(END, [id, reason]);
  }

  /** The token hashes of an operator's sessions that a revocation would end. */
  async findLive(
    operatorId: string,
    which: { readonly tokenHash: Buffer } | { readonly operatorUser: string },
  ): Promise<readonly { readonly id: string; readonly token_hash: Buffer }[]> {
    return 'tokenHash' in which
      ? await this.#database.query(LIVE_BY_TOKEN, [operatorId, which.tokenHash])
      : await this.#database.query(LIVE_BY_PLAYER, [operatorId, which.operatorUser]);
  }

  /** @returns how many of these were live and are ended now */
  async revoke(operatorId: string, ids: readonly string[]): Promise<number> {
    return (await this.#database.query(REVOKE, [operatorId, ids])).length;
  }
}

const COLUMNS = `
  s.id, s.player_id, s.operator_id, s.currency, s.token_hash, s.operator_token, s.token, s.sealed_token,
  s.ordinal, s.expires_at,
  s.ended_reason, s.expires_at <= clock_timestamp() AS expired, p.user_id, p.operator_user`;
const ROWS = 'sessions s JOIN players p ON p.id = s.player_id';
const SELECT = `SELECT ${COLUMNS} FROM ${ROWS}`;

const FIND_BY_TOKEN_HASH: Statement = {
  name: 'session-by-token-hash',
  text: `${SELECT} WHERE s.token_hash = $1`,
};

const FIND_BY_ID: Statement = { name: 'session-by-id', text: `${SELECT} WHERE s.id = $1` };

const FIND_NEWEST: Statement = {
  name: 'session-newest',
  text: `
  SELECT ${COLUMNS}, coalesce($4::bytea = ANY (s.given_to), false) AS was_given,
         EXISTS (SELECT FROM sessions revoked
                  WHERE revoked.player_id = $1 AND revoked.currency = $2
                    AND revoked.operator_token_hash = $3 AND revoked.ended_reason = 'revoked'
                    AND $4::bytea = ANY (revoked.given_to)) AS was_revoked
    FROM ${ROWS}
   WHERE s.player_id = $1 AND s.currency = $2 AND s.operator_token_hash = $3
   ORDER BY s.ordinal DESC LIMIT 1`,
};

/** The last few: they differ in little but the time, and those of an old time are refused anyhow. */
const NOTE_GIVEN: Statement = {
  name: 'session-note-given',
  text: `UPDATE sessions
            SET given_to = (array_append(given_to, $2::bytea))[greatest(1, cardinality(given_to) - 62):]
          WHERE id = $1 AND ended_at IS NULL AND NOT $2::bytea = ANY (given_to)`,
};

const INSERT: Statement = {
  name: 'session-insert',
  text: `
  WITH made AS (
    INSERT INTO sessions (player_id, operator_id, currency, token_hash, token, operator_token,
                          operator_token_hash, ordinal, expires_at, given_to)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() + make_interval(secs => $9),
            $10::bytea[])
    ON CONFLICT DO NOTHING
    RETURNING *
  )
  SELECT made.id, made.player_id, made.operator_id, made.currency, made.token_hash,
         made.operator_token, made.token, made.sealed_token, made.ordinal, made.expires_at, made.ended_reason, false AS expired,
         p.user_id, p.operator_user
    FROM made JOIN players p ON p.id = made.player_id`,
};

const RENEW: Statement = {
  name: 'session-renew',
  text: `UPDATE sessions SET expires_at = clock_timestamp() + make_interval(secs => $2)
          WHERE id = $1 AND ended_at IS NULL`,
};

const END: Statement = {
  name: 'session-end',
  text: `UPDATE sessions SET ended_at = clock_timestamp(), ended_reason = $2
          WHERE id = $1 AND ended_at IS NULL`,
};

const LIVE = 's.ended_at IS NULL AND s.expires_at > clock_timestamp()';

const LIVE_BY_TOKEN: Statement = {
  name: 'session-live-by-token',
  text: `SELECT s.id, s.token_hash FROM sessions s
          WHERE s.operator_id = $1 AND s.token_hash = $2 AND ${LIVE}`,
};

const LIVE_BY_PLAYER: Statement = {
  name: 'session-live-by-player',
  text: `SELECT s.id, s.token_hash FROM sessions s JOIN players p ON p.id = s.player_id
          WHERE p.operator_id = $1 AND p.operator_user = $2 AND ${LIVE}`,
};

const REVOKE: Statement = {
  name: 'session-revoke',
  text: `UPDATE sessions SET ended_at = clock_timestamp(), ended_reason = 'revoked'
          WHERE operator_id = $1 AND id = ANY ($2::bigint[]) AND ended_at IS NULL
        RETURNING id`,
};
