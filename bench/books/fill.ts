import { Client } from 'pg';

async function onServer(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** A journal of placed and settled bets, whose bodies are as long as the service's. */
export async function fillJournal(url: string, bets: number): Promise<void> {
  await onServer(url, async (client) => {
    await client.query(
      `INSERT INTO players (operator_id, operator_user, user_id) VALUES ('alpha', 'ann', 'ann')`,
    );
    await client.query(
      `INSERT INTO bets (transaction_id, operator_id, player_id, amount, currency, generation, place,
                         place_time, settlement, settlement_amount, settlement_type, settlement_time)
       SELECT 'bet-' || n, 'alpha', 1, '10.50', 'USD', 1, 'accepted', 't', 'settled', '21.00', 'won', 't'
         FROM generate_series(1, $1::int) n`,
      [bets],
    );
    for (const operation of ['place', 'settle']) {
      await client.query(
        `WITH op AS (
           INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body)
           SELECT 'bet-' || n, 'alpha', $2, gen_random_uuid(),
                  convert_to('{"type":2,"amount":21.00,"currency":"USD","bonusId":null,"metadata":[{"a":"'
                             || repeat('x', 600) || '"}]}', 'UTF8')
             FROM generate_series(1, $1::int) n RETURNING id)
         INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, confirmed)
         SELECT id, 1, clock_timestamp(), 20, 'accepted', true FROM op`,
        [bets, operation],
      );
    }
    await client.query('VACUUM ANALYZE');
  });
}

/** A year's sums of this many operators, as the bookkeeper would have written them. */
export async function fillYear(url: string, operators: number): Promise<void> {
  await onServer(url, async (client) => {
    await client.query(
      `INSERT INTO books_days (day, operator_id, currency, bets, stakes, payouts, open_bets)
       SELECT day::date, 'operator-' || n, 'USD', 1000, 12345.67, 11000.5, 17
         FROM generate_series('2025-01-01'::date, '2025-12-31', interval '1 day') day,
              generate_series(1, $1::int) n`,
      [operators],
    );
    await client.query('VACUUM ANALYZE books_days');
  });
}
