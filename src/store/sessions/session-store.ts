import type { Authority } from '../audit/audited.ts';
import type { Database } from '../database.ts';
import { type LookUp, sharedLookUp } from '../shared-look-up.ts';
import { type Columns, noRow, type Parameters, statement } from '../statement.ts';
import {
  LIVE_BY_PLAYER,
  LIVE_BY_TOKEN,
  type LiveSession,
  REVOKE,
  REVOKE_BY_PERSON,
} from './revoke-statements.ts';

const ENDED_REASONS = ['revoked', 'currency'] as const;

type EndedReason = (typeof ENDED_REASONS)[number];

/** A session as PostgreSQL holds it; `over` is judged by its clock. */
export interface SessionRow {
  readonly id: string;
  readonly player_id: string;
  readonly operator_id: string;
  readonly currency: string;
  readonly token_hash: Buffer;
  readonly operator_token: Buffer;
  readonly token: string | undefined;
  readonly sealed_token: Buffer | undefined;
  readonly ordinal: number;
  readonly expires_at: Date;
  readonly ended_reason: EndedReason | undefined;
  readonly expired: boolean;
  readonly user_id: string;
  readonly operator_user: string;
}

/** The newest session of a kind, and what the request that asks has to do with it. */
interface NewestSession extends SessionRow {
  /** Whether this very request was given the session before. */
  readonly was_given: boolean;
  /** Whether it was given one of the same kind that was revoked since. */
  readonly was_revoked: boolean;
}

export interface KindOfSession {
  /** Undefined where none is on record. */
  readonly newest: NewestSession | undefined;
  /** The highest that a session of this kind may have had, also one that was pruned: 0 for none. */
  readonly lastOrdinal: number;
}

/** A request for a session that could be sent again, by whoever has seen it. */
export interface RepeatableRequest {
  /** SHA-256 of what it says. */
  readonly hash: Buffer;
  /** It is refused some minutes after the time that it names. */
  readonly saysWhen: boolean;
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
  /** By the gateway: its token is made by nobody else. A prefixed one is the operator's own. */
  readonly isIssued: boolean;
  /** The request that opens it, where that could be sent again. */
  readonly givenTo?: RepeatableRequest | undefined;
}

/** Rows of `sessions`. Every method throws GatewayError `DATABASE_UNAVAILABLE`. */
export class SessionStore {
  readonly #database: Database;
  /** Also when it has ended: a bet keeps the operator token it was placed with. Every rollback asks. */
  readonly findById: LookUp<SessionRow>;

  constructor(database: Database) {
    this.#database = database;
    this.findById = sharedLookUp(database, FIND_BY_IDS, ({ id }) => id);
  }

  async findByTokenHash(tokenHash: Buffer): Promise<SessionRow | undefined> {
    return (await this.#database.run(FIND_BY_TOKEN_HASH, tokenHash))[0];
  }

  /**
   * The newest session of one player, currency and operator token, ended or not, and its ordinal.
   * @param request SHA-256 of the request that asks; undefined for one that cannot come again
   */
  async findNewest(
    playerId: string,
    currency: string,
    operatorTokenHash: Buffer,
    request?: Buffer,
  ): Promise<KindOfSession> {
    const asked = { playerId, currency, operatorTokenHash, request };
    const [found] = await this.#database.run(FIND_NEWEST, asked);
    return found ?? { newest: undefined, lastOrdinal: 0 };
  }

  /** Notes that a session was given to one more request; also where it was revoked in that moment. */
  async noteGiven(id: string, request: RepeatableRequest): Promise<void> {
    await this.#database.run(NOTE_GIVEN, { id, request });
  }

  /** @returns undefined when a session of the same ordinal or token was first */
  async insert(session: NewSession): Promise<SessionRow | undefined> {
    return (await this.#database.run(INSERT, session))[0];
  }

  /** Gives a session that has not ended `ttlSeconds` from now on. */
  async renew(id: string, ttlSeconds: number): Promise<void> {
    await this.#database.run(RENEW, { id, ttlSeconds });
  }

  async end(tokenHash: Buffer, reason: EndedReason): Promise<void> {
    await this.#database.run(END, { tokenHash, reason });
  }

  /** The token hashes of an operator's sessions that a revocation would end. */
  async findLive(
    operatorId: string,
    which: { readonly tokenHash: Buffer } | { readonly operatorUser: string },
  ): Promise<readonly LiveSession[]> {
    return 'tokenHash' in which
      ? await this.#database.run(LIVE_BY_TOKEN, { operatorId, tokenHash: which.tokenHash })
      : await this.#database.run(LIVE_BY_PLAYER, { operatorId, operatorUser: which.operatorUser });
  }

  /** @returns how many of these are ended now */
  async revoke(operatorId: string, ids: readonly string[], by?: Authority): Promise<number> {
    const ended =
      by === undefined
        ? await this.#database.run(REVOKE, { operatorId, ids })
        : await this.#database.run(REVOKE_BY_PERSON, { operatorId, ids, by });
    return ended.length;
  }
}

const COLUMNS = `
  s.id, s.player_id, s.operator_id, s.currency, s.token_hash, s.operator_token, s.token, s.sealed_token,
  s.ordinal, s.expires_at,
  s.ended_reason, s.expires_at <= clock_timestamp() AS expired, p.user_id, p.operator_user`;
const ROWS = 'sessions s JOIN players p ON p.id = s.player_id';
const SELECT = `SELECT ${COLUMNS} FROM ${ROWS}`;

function sessionOf(row: Columns): SessionRow {
  return {
    id: row.text('id'),
    player_id: row.text('player_id'),
    operator_id: row.text('operator_id'),
    currency: row.text('currency'),
    token_hash: row.bytes('token_hash'),
    operator_token: row.bytes('operator_token'),
    token: row.textOrNull('token'),
    sealed_token: row.bytesOrNull('sealed_token'),
    ordinal: row.int('ordinal'),
    expires_at: row.date('expires_at'),
    ended_reason: row.oneOfOrNull('ended_reason', ENDED_REASONS),
    expired: row.bool('expired'),
    user_id: row.text('user_id'),
    operator_user: row.text('operator_user'),
  };
}

const FIND_BY_TOKEN_HASH = statement(
  'session-by-token-hash',
  { token_hash: ['bytea', (tokenHash) => tokenHash] } satisfies Parameters<Buffer>,
  `${SELECT} WHERE s.token_hash = :token_hash`,
  sessionOf,
);

const FIND_BY_IDS = statement(
  'session-by-ids',
  { ids: ['bigint[]', (ids: readonly string[]) => ids] },
  `${SELECT} WHERE s.id = ANY (:ids)`,
  sessionOf,
);

interface AskedSession {
  readonly playerId: string;
  readonly currency: string;
  readonly operatorTokenHash: Buffer;
  readonly request: Buffer | undefined;
}

const FIND_NEWEST = statement(
  'session-newest',
  {
    player_id: ['bigint', ({ playerId }) => playerId],
    currency: ['text', ({ currency }) => currency],
    operator_token_hash: ['bytea', ({ operatorTokenHash }) => operatorTokenHash],
    request: ['bytea', ({ request }) => request ?? null],
  } satisfies Parameters<AskedSession>,
  `
  SELECT ${COLUMNS}, coalesce(:request = ANY (s.given_to), false) AS was_given,
         EXISTS (SELECT FROM sessions revoked
                  WHERE revoked.player_id = :player_id AND revoked.currency = :currency
                    AND revoked.operator_token_hash = :operator_token_hash
                    AND revoked.ended_reason = 'revoked'
                    AND :request = ANY (revoked.given_to)) AS was_revoked,
         greatest(s.ordinal, p.pruned_ordinal) AS last_ordinal
    FROM players p LEFT JOIN LATERAL (
      SELECT * FROM sessions s
       WHERE s.player_id = p.id AND s.currency = :currency
         AND s.operator_token_hash = :operator_token_hash
       ORDER BY s.ordinal DESC LIMIT 1) s ON true
   WHERE p.id = :player_id`,
  (row): KindOfSession => ({
    newest: row.isNull('id')
      ? undefined
      : {
          ...sessionOf(row),
          was_given: row.bool('was_given'),
          was_revoked: row.bool('was_revoked'),
        },
    lastOrdinal: row.int('last_ordinal'),
  }),
);

/** The last few: they differ in little but the time, and those of an old time are refused anyhow. */
const NOTE_GIVEN = statement(
  'session-note-given',
  {
    id: ['bigint', ({ id }) => id],
    request: ['bytea', ({ request }) => request.hash],
    says_when: ['bool', ({ request }) => request.saysWhen],
  } satisfies Parameters<{ readonly id: string; readonly request: RepeatableRequest }>,
  `UPDATE sessions
      SET given_to = (array_append(given_to, :request))[greatest(1, cardinality(given_to) - 62):],
          given_dated = CASE WHEN :says_when
            THEN (array_append(given_dated, :request))[greatest(1, cardinality(given_dated) - 62):]
            ELSE given_dated END
    WHERE id = :id AND NOT :request = ANY (given_to)`,
  noRow,
);

const INSERT = statement(
  'session-insert',
  {
    player_id: ['bigint', ({ playerId }) => playerId],
    operator_id: ['text', ({ operatorId }) => operatorId],
    currency: ['text', ({ currency }) => currency],
    token_hash: ['bytea', ({ tokenHash }) => tokenHash],
    token: ['text', ({ token }) => token ?? null],
    operator_token: ['bytea', ({ operatorToken }) => operatorToken],
    operator_token_hash: ['bytea', ({ operatorTokenHash }) => operatorTokenHash],
    ordinal: ['int', ({ ordinal }) => ordinal],
    ttl_seconds: ['float8', ({ ttlSeconds }) => ttlSeconds],
    given_to: ['bytea[]', ({ givenTo }) => (givenTo === undefined ? [] : [givenTo.hash])],
    given_dated: [
      'bytea[]',
      ({ isIssued, givenTo }) => (isIssued ? (givenTo?.saysWhen ? [givenTo.hash] : []) : null),
    ],
  } satisfies Parameters<NewSession>,
  `
  WITH s AS (
    INSERT INTO sessions (player_id, operator_id, currency, token_hash, token, operator_token,
                          operator_token_hash, ordinal, expires_at, given_to, given_dated)
    VALUES (:player_id, :operator_id, :currency, :token_hash, :token, :operator_token,
            :operator_token_hash, :ordinal,
            clock_timestamp() + make_interval(secs => :ttl_seconds), :given_to, :given_dated)
    ON CONFLICT DO NOTHING
    RETURNING *
  )
  SELECT s.id, s.player_id, s.operator_id, s.currency, s.token_hash, s.operator_token, s.token,
         s.sealed_token, s.ordinal, s.expires_at, s.ended_reason, false AS expired,
         p.user_id, p.operator_user
    FROM s JOIN players p ON p.id = s.player_id`,
  sessionOf,
);

const RENEW = statement(
  'session-renew',
  {
    id: ['bigint', ({ id }) => id],
    ttl_seconds: ['float8', ({ ttlSeconds }) => ttlSeconds],
  } satisfies Parameters<{ readonly id: string; readonly ttlSeconds: number }>,
  `UPDATE sessions SET expires_at = clock_timestamp() + make_interval(secs => :ttl_seconds)
    WHERE id = :id AND ended_at IS NULL`,
  noRow,
);

const END = statement(
  'session-end',
  {
    token_hash: ['bytea', ({ tokenHash }) => tokenHash],
    reason: ['text', ({ reason }) => reason],
  } satisfies Parameters<{ readonly tokenHash: Buffer; readonly reason: EndedReason }>,
  `UPDATE sessions SET ended_at = clock_timestamp(), ended_reason = :reason
    WHERE token_hash = :token_hash AND ended_at IS NULL`,
  noRow,
);
