import { afterAll, beforeAll, expect, it } from 'vitest';
import { COMPARE, comparisonValues } from '../../../src/store/reconciliation/compare-statement.ts';
import { CREATE_LISTED } from '../../../src/store/reconciliation/side-table.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { createDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
beforeAll(async () => {
  database = await createDatabase();
  await migrate(database.url);
});
afterAll(() => database.drop());

it('looks what differs up by indexes, one bet at a time, whatever the order of text there is', async () => {
  await onServer(database.url, async (client) => {
    await client.query(
      `INSERT INTO bets (transaction_id, operator_id, amount, currency, generation, place)
       SELECT 'bet-' || n, 'alpha', '1', 'USD', 1, 'accepted' FROM generate_series(1, 20000) n`,
    );
    await client.query(
      `INSERT INTO books_movements (transaction_id, sequence, operator_id, player_id, currency, kind,
              amount, is_freebet, opens, open_stake, operation, operation_id, number, written_in,
              confirmed_at, belongs_to, day)
       SELECT 'bet-' || n, 1, 'alpha', 1, 'USD', 'stake', -1, false, 1, 1, 'place', n, 1, '1', now(),
              now(), now() FROM generate_series(1, 20000) n`,
    );
    await client.query(CREATE_LISTED);
    await client.query(
      `INSERT INTO listed SELECT n, 'stranger-' || n, false FROM generate_series(1, 5000) n`,
    );
    await client.query('ANALYZE bets, listed, books_movements');
    const days = { startsAt: new Date(0), endsAt: new Date(86_400_000) };
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${COMPARE}`, [
      ...comparisonValues({ operatorId: 'alpha', ...days }),
    ]);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Index Scan using bets_pkey on bets f');
    expect(plan).toMatch(/Index (Only )?Scan using books_movements_pkey on books_movements s/);
    // The single join of the list with the bets of its days.
    expect(plan).toMatch(/(Hash|Merge) Full Join/);
    // An index that cannot be used is ignored even if scans are forbidden.
    await client.query('SET enable_seqscan = off');
    const forced = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${COMPARE}`, [
      ...comparisonValues({ operatorId: 'alpha', ...days }),
    ]);
    const text = forced.rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).not.toMatch(/Seq Scan on (bets|operations|deliveries|books_movements)/);
  });
});
