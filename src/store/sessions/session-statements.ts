import { named } from '../sql/named.ts';
import { noRow, type Parameters, statement } from '../sql/statement.ts';
import {
  type CertainPlayer,
  type KindOfSession,
  type NewSession,
  type RepeatableRequest,
  sessionOf,
} from './session-rows.ts';

const COLUMNS = `
  s.id, s.player_id, s.operator_id, s.currency, s.token_hash, s.operator_token, s.token, s.sealed_token,
  s.ordinal, s.expires_at,
  s.ended_reason, s.expires_at <= clock_timestamp() AS expired, p.user_id, p.operator_user`;
const ROWS = 'sessions s JOIN players p ON p.id = s.player_id';
const SELECT = `SELECT ${COLUMNS} FROM ${ROWS}`;

export const FIND_BY_TOKEN_HASHES = statement(
  'session-by-token-hashes',
  {
    hashes: [
      'bytea[]',
      (hashes: readonly string[]) => hashes.map((one) => Buffer.from(one, 'hex')),
    ],
  },
  `${SELECT} WHERE s.token_hash = ANY (:hashes)`,
  sessionOf,
);

export const FIND_BY_IDS = statement(
  'session-by-ids',
  { ids: ['bigint[]', (ids: readonly string[]) => ids] },
  `${SELECT} WHERE s.id = ANY (:ids)`,
  sessionOf,
);

interface SessionKind {
  readonly player: CertainPlayer;
  readonly currency: string;
  readonly operatorTokenHash: Buffer;
  readonly request: Buffer | undefined;
}

export const FIND_NEWEST = statement(
  'session-newest',
  {
    player_id: ['bigint', ({ player }) => player.playerId],
    user_id: ['text', ({ player }) => player.userId],
    currency: ['text', ({ currency }) => currency],
    operator_token_hash: ['bytea', ({ operatorTokenHash }) => operatorTokenHash],
    request: ['bytea', ({ request }) => request ?? null],
  } satisfies Parameters<SessionKind>,
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
   WHERE p.id = :player_id AND p.user_id = :user_id`,
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

/** Keeps the last 64: they differ in little but the time, and old ones are refused by their time anyway. */
export const NOTE_GIVEN = statement(
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

export const INSERT = statement(
  'session-insert',
  {
    player_id: ['bigint', ({ player }) => player.playerId],
    user_id: ['text', ({ player }) => player.userId],
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
    SELECT p.id, :operator_id, :currency, :token_hash, :token, :operator_token,
           :operator_token_hash, :ordinal,
           clock_timestamp() + make_interval(secs => :ttl_seconds), :given_to, :given_dated
      FROM players p WHERE p.id = :player_id AND p.user_id = :user_id
    ON CONFLICT DO NOTHING
    RETURNING *
  )
  SELECT s.id, s.player_id, s.operator_id, s.currency, s.token_hash, s.operator_token, s.token,
         s.sealed_token, s.ordinal, s.expires_at, s.ended_reason, false AS expired,
         p.user_id, p.operator_user
    FROM s JOIN players p ON p.id = s.player_id`,
  sessionOf,
);

export const RENEW = statement(
  'session-renew',
  named({ id: 'bigint', ttl_seconds: 'float8', operator_token: 'bytea?' }),
  `UPDATE sessions SET expires_at = clock_timestamp() + make_interval(secs => :ttl_seconds),
          operator_token = coalesce(:operator_token, operator_token)
    WHERE id = :id AND ended_at IS NULL`,
  noRow,
);

export const END = statement(
  'session-end',
  named({ token_hash: 'bytea', reason: 'text' }),
  `UPDATE sessions SET ended_at = clock_timestamp(), ended_reason = :reason
    WHERE token_hash = :token_hash AND ended_at IS NULL`,
  noRow,
);
