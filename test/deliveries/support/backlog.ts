import type { Client } from 'pg';
import { rollbackBody } from '../../../src/protocol/callback-bodies.ts';

export interface Backlog {
  readonly operatorId: string;
  readonly playerId: string;
  /** The aggregator's id of the player. */
  readonly userId: string;
  readonly sessionId: string | null;
  /** Bets are called `<prefix>-1`, `<prefix>-2`, … */
  readonly prefix: string;
  readonly count: number;
  /** `delivered`: already delivered in the past. Default `pending`. */
  readonly state?: 'pending' | 'delivered';
  /** When the first is due, from now; default now. */
  readonly firstDueInMs?: number;
  /** The interval between due times; default 0. */
  readonly apartMs?: number;
  readonly horizonHours?: number;
  readonly generation?: number;
}

const PLACEHOLDER = 'transaction-id-placeholder';

/**
 * Promised rollbacks of accepted bets, written as the gateway would have written them: bet, operation, delivery. A
 * delivery's `created_at` is its due time, so that its age equals its lag.
 */
export async function insertBacklog(client: Client, backlog: Backlog): Promise<void> {
  const { operatorId, playerId, sessionId, prefix, count, state = 'pending' } = backlog;
  const time = new Date().toISOString();
  await client.query(
    `INSERT INTO bets (transaction_id, operator_id, player_id, session_id, amount, currency,
                       generation, place, place_time, rollback, rollback_time)
     SELECT $1 || '-' || n, $2, $3, $4, '10', 'USD', $5, 'accepted', $6, $7, $6
       FROM generate_series(1, $8::int) n`,
    [
      prefix,
      operatorId,
      playerId,
      sessionId,
      backlog.generation ?? 1,
      time,
      state === 'pending' ? 'promised' : 'confirmed',
      count,
    ],
  );
  await client.query(
    `WITH op AS (
       INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, request_id,
                               body, answer_status, answer_body)
       SELECT $1 || '-' || n, $2, 'rollback', gen_random_uuid(), 'request-' || n,
              convert_to(replace($3, '${PLACEHOLDER}', $1 || '-' || n), 'UTF8'), 200, '{}'
         FROM generate_series(1, $4::int) n
       RETURNING id, transaction_id
     )
     INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, attempts,
                             transaction_time, next_attempt_at, dead_at, created_at, settled_at)
     SELECT op.id, $2, op.transaction_id, 'rollback', $5, 0, $6, due.at,
            due.at + make_interval(secs => $7::float8), due.at,
            CASE WHEN $5 = 'delivered' THEN clock_timestamp() - interval '1 hour' END
       FROM op, LATERAL (
         SELECT clock_timestamp() + make_interval(secs => ($8::float8
                + $9::float8 * (split_part(op.transaction_id, '-', -1)::int - 1)) / 1000)
       ) AS due(at)`,
    [
      prefix,
      operatorId,
      bodyTemplate(backlog.userId),
      count,
      state,
      time,
      (backlog.horizonHours ?? 72) * 3600,
      backlog.firstDueInMs ?? 0,
      backlog.apartMs ?? 0,
    ],
  );
}

function bodyTemplate(userId: string): string {
  const slip = {
    transactionId: PLACEHOLDER,
    token: 'the-token-of-its-place',
    userId,
    currency: 'USD',
    amount: '10',
    coefficient: '1.20',
    bonusId: null,
    bonusTemplateId: null,
  };
  return rollbackBody(slip, 50);
}
