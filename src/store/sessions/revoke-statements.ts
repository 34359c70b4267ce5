import { AUDITED, type Authority, auditText } from '../audit/audited.ts';
import { named } from '../sql/named.ts';
import { type Columns, noRow, type Parameters, statement } from '../sql/statement.ts';

/** A session that a revocation would end. */
export interface LiveSession {
  readonly id: string;
  readonly token_hash: Buffer;
}

/** Includes expired prefixed sessions (never given to a request), since the next profile would renew them. */
const LIVE = `s.ended_at IS NULL AND (s.expires_at > clock_timestamp()
         OR s.given_dated IS NULL AND s.given_to = '{}')`;

const liveOf = (row: Columns): LiveSession => ({
  id: row.text('id'),
  token_hash: row.bytes('token_hash'),
});

export const LIVE_BY_TOKEN = statement(
  'session-live-by-token',
  named({ operator_id: 'text', token_hash: 'bytea' }),
  `SELECT s.id, s.token_hash FROM sessions s
    WHERE s.operator_id = :operator_id AND s.token_hash = :token_hash AND ${LIVE}`,
  liveOf,
);

export const LIVE_BY_PLAYER = statement(
  'session-live-by-player',
  named({ operator_id: 'text', operator_user: 'text' }),
  `SELECT s.id, s.token_hash FROM sessions s JOIN players p ON p.id = s.player_id
    WHERE p.operator_id = :operator_id AND p.operator_user = :operator_user AND ${LIVE}`,
  liveOf,
);

/** With its row in the audit. */
export const REVOKE_BY_PERSON = statement(
  'session-revoke-by-person',
  {
    ...AUDITED,
    operator_id: ['text', ({ operatorId }) => operatorId],
    ids: ['bigint[]', ({ ids }) => ids],
  } satisfies Parameters<{
    readonly operatorId: string;
    readonly ids: readonly string[];
    readonly by: Authority;
  }>,
  `
  WITH ended AS (
    UPDATE sessions SET ended_at = clock_timestamp(), ended_reason = 'revoked'
     WHERE operator_id = :operator_id AND id = ANY (:ids) AND ended_at IS NULL
    RETURNING id, player_id
  ), audited AS (${auditText(
    'sessions.revoke',
    `SELECT 'player ' || p.user_id, :operator_id, NULL::jsonb,
            jsonb_build_object('sessions', count(*))
       FROM ended e JOIN players p ON p.id = e.player_id GROUP BY p.user_id`,
  )}
  )
  SELECT id FROM ended`,
  noRow,
);

export const REVOKE = statement(
  'session-revoke',
  named({ operator_id: 'text', ids: 'bigint[]' }),
  `UPDATE sessions SET ended_at = clock_timestamp(), ended_reason = 'revoked'
    WHERE operator_id = :operator_id AND id = ANY (:ids) AND ended_at IS NULL
  RETURNING id`,
  noRow,
);
