import type { Client } from 'pg';

/** Operations of a filled bet, each with one attempt. */
const OPERATIONS = ['place', 'update', 'update', 'settle'] as const;
const BETS_AT_ONCE = 100_000;
/** One of this many bets is of the last month. */
export const LAST_MONTH_EVERY = 5;
const PLAYERS = 10_000;
/** Rows between two lines of progress. */
const TOLD_EVERY = 500_000;

/**
 * Settled bets of this month and, every fifth, of the last one. They are written as rows, so the books do not know
 * them and skip them.
 */
export async function fillJournal(client: Client, bets: number): Promise<void> {
  await client.query('SET synchronous_commit = off');
  await client.query(`SELECT journal_prepare_month(now() - interval '1 month')`);
  await client.query(
    `INSERT INTO players (operator_id, operator_user, user_id)
     SELECT 'alpha', 'filled-' || n, 'filled-' || n FROM generate_series(1, ${PLAYERS}) n`,
  );
  for (let from = 1; from <= bets; from += BETS_AT_ONCE) {
    const to = Math.min(bets, from + BETS_AT_ONCE - 1);
    await client.query(BETS, [from, to]);
    for (const [at, operation] of OPERATIONS.entries()) {
      await client.query(OPERATIONS_OF_BETS, [from, to, operation, at]);
    }
    if (to < bets && to % TOLD_EVERY === 0) console.log(`filled ${to} of ${bets} bets`);
  }
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
}

const CREATED = `CASE WHEN n % ${LAST_MONTH_EVERY} = 0
                      THEN date_trunc('month', now()) - interval '2 days' ELSE now() END`;

const BETS = `
  INSERT INTO bets (transaction_id, operator_id, player_id, amount, currency, generation, place,
                    place_time, settlement, settlement_amount, settlement_type, settlement_time, created_at)
  SELECT 'filled-' || n, 'alpha', p.id, '10.50', 'USD', 1, 'accepted', 't', 'settled', '21', 'won', 't',
         ${CREATED}
    FROM generate_series($1::int, $2::int) n
    JOIN players p ON p.user_id = 'filled-' || (n % ${PLAYERS} + 1)`;

/** Bodies about as long as real ones. */
const OPERATIONS_OF_BETS = `
  WITH op AS (
    INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, request_id, body, created_at)
    SELECT 'filled-' || n, 'alpha', $3, gen_random_uuid(), 'request-' || n || '-' || $4::int,
           convert_to(repeat(md5(n::text), 25), 'UTF8'), ${CREATED}
      FROM generate_series($1::int, $2::int) n
    RETURNING id, created_at
  )
  INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, confirmed)
  SELECT id, 1, created_at, 20, 'accepted', false FROM op`;
