import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import {
  DEAD,
  LIVE,
  UNKNOWN_RESULTS,
  UNRESOLVED,
  WAITING,
} from '../../../src/store/deliveries/backlog.ts';
import { statement, type TypedStatement } from '../../../src/store/sql/statement.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';

/** How PostgreSQL counts open deliveries if all of them were added since it last analysed the table. */

const OPEN = 20_000;

let journal: TestJournal;
let database: Database;
beforeAll(async () => {
  journal = await openTestJournal();
  const options = { url: journal.url, connectionsMax: 1, onIdleError: () => undefined };
  database = new Database({ ...options, plans: 'ordered' });
  const deliveries = (state: string) => `
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, purpose,
                            transaction_time, next_attempt_at, dead_at, settled_at)
    SELECT n, 'alpha', '${state}-' || n, 'rollback', '${state}',
           CASE '${state}' WHEN 'dead' THEN 'confirm' ELSE 'promise' END, '', now(), now(), now()`;
  await journal.sql(`
    ALTER TABLE deliveries SET (autovacuum_enabled = false);
    ALTER TABLE bets SET (autovacuum_enabled = false);
    ${deliveries('delivered')} FROM generate_series(1, ${OPEN}) n;
    ANALYZE;
    ${deliveries('pending')} FROM generate_series(${OPEN} + 1, ${3 * OPEN}) n;
    ${deliveries('dead')} FROM generate_series(1, ${OPEN}) n;
    INSERT INTO bets (transaction_id, operator_id, generation, place)
    SELECT 'unresolved-' || n, 'alpha', 1, 'unknown' FROM generate_series(1, ${OPEN}) n`);
});
afterAll(async () => {
  await database.close();
  await journal.close();
});

async function planOf<Input>(of: TypedStatement<Input, unknown>, input: Input): Promise<string> {
  const values = of.values(input);
  const explain = {
    ...statement(`explain-${of.name}`, {}, '', (row) => row.text('QUERY PLAN')),
    text: `EXPLAIN ${of.text}`,
    values: () => values,
  };
  return (await database.run(explain, {})).join('\n');
}

describe.each([
  ['what waits', WAITING, 'deliveries_pending_idx'],
  ['what is dead', DEAD, 'deliveries_dead_idx'],
  ['what is unresolved', UNRESOLVED, 'bets_unresolved_idx'],
])('counting %s', (_, counting, index) => {
  /** Straight from the index to the limit: nothing is sorted or filtered before. */
  const straight = new RegExp(`Limit.*\\n *-> +Index Scan using ${index}`);

  it('reads no further than its bound, by statistics of before the outage (I7)', async () => {
    expect(await planOf(counting, {})).toMatch(straight);
  });

  it('reads no further than its bound without statistics (I7)', async () => {
    await journal.sql(
      `DELETE FROM pg_statistic WHERE starelid IN ('deliveries'::regclass, 'bets'::regclass)`,
    );
    expect(await planOf(counting, {})).toMatch(straight);
  });
});

it('looks for live deliveries among the busy bets', async () => {
  const plan = await planOf(LIVE, {});
  expect(plan).toMatch(/CTE busy\n *-> +Index Scan using bets_busy_until_idx/);
  expect(plan).toMatch(
    /Index Scan using \w+ on deliveries d .*\n *Index Cond: \(transaction_id = busy/,
  );
});

describe('counting unknown results', () => {
  it('looks for them among themselves', async () => {
    const plan = await planOf(UNKNOWN_RESULTS, {});
    expect(plan).toMatch(/Limit.*\n *-> +Index Scan using bets_result_unknown_idx/);
    expect(plan).not.toMatch(/Seq Scan|Index \w*Scan using (?!bets_result_unknown_idx)/);
  });

  it('hides no operator’s behind those of another that has very many (I7)', async () => {
    const some = (operator: string, count: number, age: string) => `
      INSERT INTO bets (transaction_id, operator_id, generation, place, settlement, late_at)
      SELECT '${operator}-' || n, '${operator}', 1, 'accepted', 'unknown', now() - interval '${age}'
        FROM generate_series(1, ${count}) n`;
    await journal.sql(some('alpha', 60_000, '2 hours'));
    await journal.sql(some('beta', 1, '10 minutes'));
    await journal.sql(some('gamma', 2, '2 hours'));
    const counts = await database.run(UNKNOWN_RESULTS, {});
    expect(counts.map(({ operator }) => operator)).toEqual(['alpha', 'gamma']);
    expect(counts[1]?.count).toBe(2);
  });
});
