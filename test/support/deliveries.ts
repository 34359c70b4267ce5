import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';

export interface DeliveryRow {
  readonly operator?: string;
  readonly transactionId?: string;
  readonly operation?: string;
  readonly state?: string;
  readonly purpose?: 'promise' | 'confirm';
  readonly attempts?: number;
  readonly lastError?: string;
}

/** Writes an operation of an accepted bet, and the bet if it is new. @returns its id */
export async function insertOperation(
  client: Client,
  operation: string,
  transactionId: string,
  operator = 'alpha',
): Promise<string> {
  await client.query(
    `INSERT INTO bets (transaction_id, operator_id, generation, place, place_time)
     VALUES ($1, $2, 1, 'accepted', '2026-01-01T00:00:00.000Z')
     ON CONFLICT (transaction_id) DO UPDATE SET version = bets.version + 1`,
    [transactionId, operator],
  );
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body)
     VALUES ($1, $2, $3, $4, '{}') RETURNING id`,
    [transactionId, operator, operation, randomUUID()],
  );
  return idIn(rows);
}

/** Writes a delivery that is an hour old, due in an hour, and past its horizon. @returns its id */
export async function insertDelivery(client: Client, row: DeliveryRow = {}): Promise<string> {
  const { operator = 'alpha', transactionId = randomUUID(), operation = 'rollback' } = row;
  const operationId = await insertOperation(client, operation, transactionId, operator);
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, purpose,
                             attempts, last_error, transaction_time, created_at,
                             next_attempt_at, dead_at, settled_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '2026-01-01T00:00:00.000Z',
             now() - interval '1 hour', now() + interval '1 hour', now(),
             CASE WHEN $5 IN ('live', 'pending') THEN NULL ELSE now() END)
     RETURNING id`,
    [
      operationId,
      operator,
      transactionId,
      operation,
      row.state ?? 'pending',
      row.purpose ?? 'promise',
      row.attempts ?? 0,
      row.lastError ?? null,
    ],
  );
  return idIn(rows);
}

/** Writes so many dead rollbacks of alpha's bets `bet-1`, `bet-2`, … at once. */
export async function insertDeadRollbacks(client: Client, count: number): Promise<void> {
  await client.query(
    `WITH bet AS (
       INSERT INTO bets (transaction_id, operator_id, generation, place)
       SELECT 'bet-' || n, 'alpha', 1, 'accepted' FROM generate_series(1, $1::int) n
     ), operation AS (
       INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body)
       SELECT 'bet-' || n, 'alpha', 'rollback', gen_random_uuid(), '{}'
         FROM generate_series(1, $1::int) n RETURNING id, transaction_id)
     INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                             transaction_time, next_attempt_at, dead_at, settled_at)
     SELECT id, 'alpha', transaction_id, 'rollback', 'dead', '', now(), now(), now() FROM operation`,
    [count],
  );
}

function idIn(rows: readonly { readonly id: string }[]): string {
  const [row] = rows;
  if (row === undefined) throw new Error('nothing was inserted');
  return row.id;
}
