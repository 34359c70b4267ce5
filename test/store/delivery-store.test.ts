import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BetJournal } from '../../src/store/bet-journal.ts';
import { RECOVER_LAPSED } from '../../src/store/bet-statements.ts';
import type { Statement } from '../../src/store/database.ts';
import {
  COUNT_ENDED,
  COUNT_OPEN,
  COUNT_UNRESOLVED,
  DUE_OPERATORS,
  NUDGE,
  OVERDUE_UNKNOWN,
  TAKE,
  WAKE,
} from '../../src/store/delivery-statements.ts';
import { DeliveryStore } from '../../src/store/delivery-store.ts';
import { insertBacklog } from '../deliveries/support/backlog.ts';
import { openTestJournal, type TestJournal } from '../support/journal.ts';
import { onServer } from '../support/server.ts';

let journal: TestJournal;
let store: DeliveryStore;
beforeAll(async () => {
  journal = await openTestJournal();
  store = new DeliveryStore(journal.database);
});
afterAll(() => journal.close());

const backlog = (prefix: string, count: number, more: object = {}) => ({
  ...journal.owner,
  sessionId: journal.sessionId,
  prefix,
  count,
  ...more,
});
const insert = (prefix: string, count: number, more: object = {}) =>
  onServer(journal.url, (client) => insertBacklog(client, backlog(prefix, count, more)));

/** What PostgreSQL would do, whatever the values are: the plan of the prepared statement. */
async function genericPlan(client: Client, { text }: Statement): Promise<string> {
  await client.query('SET plan_cache_mode = force_generic_plan');
  await client.query(`PREPARE planned AS ${text}`);
  const count = new Set(text.match(/\$\d+/g)).size;
  const nulls = Array.from({ length: count }, () => 'NULL').join(', ');
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN EXECUTE planned${count === 0 ? '' : `(${nulls})`}`,
  );
  await client.query('DEALLOCATE planned');
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

describe('with 50,000 delivered rows in the table', () => {
  beforeAll(async () => {
    await insert('history', 50_000, { state: 'delivered' });
    await insert('open', 300);
    await onServer(journal.url, (client) => client.query('ANALYZE'));
  });
  afterAll(() =>
    journal.sql("DELETE FROM deliveries WHERE transaction_id LIKE 'history%' OR state = 'pending'"),
  );

  const statements: readonly (readonly [string, Statement])[] = [
    ['the sweep', DUE_OPERATORS],
    ['taking', TAKE],
    ['waking an operator that is back', WAKE],
    ['probing a half-open breaker', NUDGE],
    ['recovering what killed processes left', RECOVER_LAPSED],
    ['looking for places that nobody rolled back', OVERDUE_UNKNOWN],
    ['counting what is open', COUNT_OPEN],
    ['counting what has ended since', COUNT_ENDED],
    ['counting unresolved bets', COUNT_UNRESOLVED],
  ];

  it.each(statements)('%s reads no table from end to end', async (_, statement) => {
    const plan = await onServer(journal.url, (client) => genericPlan(client, statement));
    // `operator_holds` has a row an operator, and here none at all.
    expect(plan).not.toMatch(/Seq Scan on (deliveries|bets|operations|sessions)/);
    expect(plan).toMatch(/Index/);
  });

  it('the sweep touches one index entry an operator, not one a delivery', async () => {
    const { rows } = await onServer(journal.url, (client) =>
      client.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, BUFFERS) ${DUE_OPERATORS.text}`),
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index (Only )?Scan using deliveries_due_idx/);
    const blocks = Number(/Buffers: shared hit=(\d+)/.exec(plan)?.[1]);
    expect(blocks).toBeLessThan(30);
  });
});
