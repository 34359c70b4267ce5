import { AUDITED, type Authority, auditText } from '../audit/audited.ts';
import { noRow, type Parameters, statement } from '../statement.ts';

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
  {
    operator_id: ['text', ({ operatorId }) => operatorId],
    ids: ['bigint[]', ({ ids }) => ids],
  } satisfies Parameters<{ readonly operatorId: string; readonly ids: readonly string[] }>,
  `UPDATE sessions SET ended_at = clock_timestamp(), ended_reason = 'revoked'
    WHERE operator_id = :operator_id AND id = ANY (:ids) AND ended_at IS NULL
  RETURNING id`,
  noRow,
);
