import type { Client } from 'pg';

/** Deliveries as before an outage: 30,000 that ended, and statistics by which nothing waits and nothing is dead. */
export async function insertQuietDeliveries(client: Client): Promise<void> {
  await client.query(`
    ALTER TABLE deliveries SET (autovacuum_enabled = false);
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                            transaction_time, next_attempt_at, dead_at, settled_at)
    SELECT n, 'alpha', 'ended-' || n, 'settle', 'delivered', '', now(), now(), now()
      FROM generate_series(1, 30000) n`);
  await client.query('VACUUM ANALYZE deliveries');
}
