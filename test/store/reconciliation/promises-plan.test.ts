import { expect, it, onTestFinished } from 'vitest';
import { BET_STATES } from '../../../src/domain/bet-state.ts';
import { COMPARE } from '../../../src/store/reconciliation/compare-statement.ts';
import { CREATE_LISTED } from '../../../src/store/reconciliation/side-table.ts';
import { createDatabase } from '../../support/database.ts';
import { connect } from '../../support/server.ts';

/** Of the day that is compared: in no statistics, as long as they are a small part of all. */
const TODAY = 2_000;

it('compares no bet with all that is promised, also while a wallet is away and PostgreSQL does not know it yet', async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const client = await connect(database.url);
  onTestFinished(() => client.end());
  await client.query(`
    ALTER TABLE bets SET (autovacuum_enabled = off);
    ALTER TABLE deliveries SET (autovacuum_enabled = off);
    INSERT INTO bets (transaction_id, operator_id, amount, currency, generation, place, settlement, created_at)
    SELECT 'old-' || n, 'alpha', '1', 'USD', 1, 'accepted', 'settled', now() - interval '30 days'
      FROM generate_series(1, 20000) n;
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                            transaction_time, next_attempt_at, dead_at, settled_at)
    SELECT n, 'alpha', 'old-' || n, 'settle', 'delivered', '', now(), now(), now()
      FROM generate_series(1, 20000) n;
    ANALYZE;
    INSERT INTO bets (transaction_id, operator_id, amount, currency, generation, place, rollback)
    SELECT 'bet-' || n, 'alpha', '1', 'USD', 1, 'accepted', 'promised' FROM generate_series(1, ${TODAY}) n;
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                            transaction_time, next_attempt_at, dead_at)
    SELECT 20000 + n, 'alpha', 'bet-' || n, 'rollback', 'pending', '', now(), now()
      FROM generate_series(1, ${TODAY}) n;
    ${CREATE_LISTED};
    INSERT INTO listed (line, transaction_id, is_unreadable, currency, stake)
    SELECT n, 'bet-' || n, false, 'USD', '1' FROM generate_series(1, ${TODAY}) n;
    ANALYZE listed`);
  const days = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)];
  const values = ['alpha', ...days, BET_STATES];
  const { rows } = await client.query<Record<'QUERY PLAN', string>>(
    `EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ${COMPARE}`,
    values,
  );
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).not.toMatch(/Rows Removed by Join Filter: \d{5}/);
  const compared = await client.query<Record<string, unknown>>(COMPARE, values);
  expect(compared.rows).toHaveLength(TODAY);
  expect(new Set(compared.rows.map(({ promised }) => promised))).toEqual(new Set(['rollback']));
});
