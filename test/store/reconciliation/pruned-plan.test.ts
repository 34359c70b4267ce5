import { expect, it, onTestFinished } from 'vitest';
import { COMPARE } from '../../../src/store/reconciliation/compare-statement.ts';
import { createDatabase } from '../../support/database.ts';
import { connect } from '../../support/server.ts';

it('what is booked of a pruned bet is found by the bet alone, also before the books have statistics', async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const client = await connect(database.url);
  onTestFinished(() => client.end());
  await client.query(`
    CREATE TEMPORARY TABLE listed (line BIGINT, transaction_id TEXT COLLATE "C", is_unreadable BOOLEAN,
                                   currency TEXT, stake TEXT, payout TEXT, state TEXT);
    INSERT INTO listed SELECT i, 'tx-' || i, false, 'EUR', '10', '0', 'settled' FROM generate_series(1, 1000) i;
    ANALYZE listed;
    ALTER TABLE books_movements SET (autovacuum_enabled = off);
    INSERT INTO books_movements (transaction_id, sequence, operator_id, player_id, currency, kind, amount, is_freebet,
                                 opens, open_stake, operation, operation_id, number, written_in, confirmed_at,
                                 belongs_to, day)
    SELECT 'tx-' || i, 1, 'alpha', 1, 'EUR', 'stake', -10, false, 1, 10, 'place', i, 1, '1', now(), now(), now()
      FROM generate_series(1, 1000) i`);
  const { rows } = await client.query<Record<'QUERY PLAN', string>>(
    `EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ${COMPARE}`,
    ['alpha', '2026-01-01', '2026-01-02', ['settled']],
  );
  const reads = rows
    .map((row) => row['QUERY PLAN'])
    .filter((line) => line.includes('books_movements'));
  expect(reads.join('\n')).toContain('books_movements_pkey');
  expect(reads.filter((line) => line.includes('operator_id'))).toEqual([]);
});
