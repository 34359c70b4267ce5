import type { Client } from 'pg';

const PLAYERS = 200_000;
/** Rows per statement. */
const CHUNK = 500_000;

/** The benchmark's name of an operator. */
export const operatorId = (number: number) => `operator-${number}`;

/**
 * Writes this many bets over two months: nine of ten settled, the rest in every other state, with stakes as people
 * choose them (a tenth of a single amount, most of a few hundred amounts). Indexes are built afterwards: growing
 * them with the table would take an hour.
 */
export async function fillBets(client: Client, bets: number, operators: number): Promise<void> {
  await client.query(`SET maintenance_work_mem = '512MB'`);
  await client.query(
    `INSERT INTO players (operator_id, operator_user, user_id)
     SELECT 'operator-' || 1 + n % $1::int, 'user-' || n, 'id-' || n
       FROM generate_series(1, ${PLAYERS}) n`,
    [operators],
  );
  const { rows } = await client.query<{ indexname: string; indexdef: string }>(
    `SELECT indexname, indexdef FROM pg_indexes
      WHERE tablename = 'bets' AND indexname LIKE 'bets%idx'`,
  );
  for (const { indexname } of rows) await client.query(`DROP INDEX "${indexname}"`);
  for (let from = 1; from <= bets; from += CHUNK) {
    await client.query(INSERT, [from, Math.min(bets, from + CHUNK - 1), bets]);
  }
  for (const { indexdef } of rows) await client.query(indexdef);
  await client.query('VACUUM ANALYZE bets');
  await client.query('VACUUM ANALYZE players');
}

const INSERT = `
  INSERT INTO bets (transaction_id, operator_id, player_id, amount, currency, generation, place,
                    place_time, settlement, settlement_amount, settlement_type, settlement_time,
                    rollback, created_at)
  SELECT md5('bet-' || n), p.operator_id, p.id,
         CASE WHEN n % 10 = 0 THEN '10.00' ELSE (1 + (n::bigint * 7919) % 400)::text || '.50' END, 'EUR', 1,
         CASE WHEN n % 100 < 3 THEN 'declined' WHEN n % 10007 = 0 THEN 'unknown' ELSE 'accepted' END, 't',
         CASE WHEN n % 100 >= 8 AND n % 10007 <> 0 THEN 'settled' ELSE 'none' END,
         CASE WHEN n % 100 >= 8 AND n % 10007 <> 0 THEN '0' END,
         CASE WHEN n % 100 >= 8 AND n % 10007 <> 0 THEN 'lost' END,
         CASE WHEN n % 100 >= 8 AND n % 10007 <> 0 THEN 't' END,
         CASE WHEN n % 100 = 7 THEN 'confirmed' ELSE 'none' END,
         now() - interval '60 days' + (n::float8 / $3::int) * interval '60 days'
    FROM generate_series($1::int, $2::int) n
    JOIN players p ON p.user_id = 'id-' || 1 + (n * 104729::bigint) % ${PLAYERS}`;

/** A backlog at every twentieth operator: pending deliveries and a dead letter. */
export async function fillDeliveries(client: Client, operators: number): Promise<void> {
  await client.query(
    `WITH bet AS (
       INSERT INTO bets (transaction_id, operator_id, generation, place, place_time)
       SELECT 'waits-' || o || '-' || n, 'operator-' || o, 1, 'accepted', 't'
         FROM generate_series(1, $1::int, 20) o, generate_series(1, 40) n
       RETURNING transaction_id, operator_id
     ), op AS (
       INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body)
       SELECT transaction_id, operator_id, 'rollback', gen_random_uuid(), '{}' FROM bet
       RETURNING id, transaction_id, operator_id
     )
     INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, purpose,
                             attempts, transaction_time, created_at, next_attempt_at, dead_at)
     SELECT id, operator_id, transaction_id, 'rollback',
            CASE WHEN transaction_id LIKE '%-7' THEN 'dead' ELSE 'pending' END, 'promise', 3, 't',
            now() - interval '1 hour', now() + interval '1 day', now() + interval '2 days'
       FROM op`,
    [operators],
  );
}
