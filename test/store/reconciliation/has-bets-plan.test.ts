import { expect, it, onTestFinished } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { ReconciliationRuns } from '../../../src/store/reconciliation/runs.ts';
import { statement } from '../../../src/store/sql/statement.ts';
import { openDatabase } from '../../support/database.ts';

const FLUSH = statement('flush', {}, 'SELECT pg_stat_force_next_flush()', () => undefined);

it('knows an operator that came late by its own bets, and does not read all earlier ones', async () => {
  const { client, url, drop } = await openDatabase();
  onTestFinished(drop);
  const database = new Database({ url, connectionsMax: 1, onIdleError: () => undefined });
  onTestFinished(() => database.close());
  for (const [operator, count] of [
    ['alpha', 20_000],
    ['beta', 4_000],
  ]) {
    await client.query(
      `INSERT INTO bets (transaction_id, operator_id, generation, place, settlement)
       SELECT '${operator}-' || n, '${operator}', 1, 'accepted', 'settled' FROM generate_series(1, ${count}) n`,
    );
  }
  await client.query('ANALYZE bets');
  const betsRead = async () => {
    await database.run(FLUSH, {});
    const { rows } = await client.query<{ read: string }>(
      `SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables WHERE relname = 'bets'`,
    );
    return Number(rows[0]?.read);
  };
  const before = await betsRead();
  const runs = new ReconciliationRuns(database);
  expect(await runs.hasBets('beta')).toBe(true);
  expect(await runs.hasBets('nobody')).toBe(false);
  expect((await betsRead()) - before).toBeLessThan(10);
});
