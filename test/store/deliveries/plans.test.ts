import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LAPSED } from '../../../src/store/bets/recover-statements.ts';
import { CLAIM, LOOK } from '../../../src/store/deliveries/claim-statements.ts';
import {
  COUNT_ENDED,
  DUE_OPERATORS,
  END_OF_STRETCH,
  NUDGE,
  OVERDUE_UNKNOWN,
  WAKE,
} from '../../../src/store/deliveries/statements.ts';
import type { Statement } from '../../../src/store/sql/statement.ts';
import { insertBacklog } from '../../deliveries/support/backlog.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

/** How PostgreSQL executes the statements that run every second, whatever the table contains. */

const MONTH = new Date().toISOString().slice(0, 7).replace('-', '_');

let journal: TestJournal;
beforeAll(async () => {
  journal = await openTestJournal();
  const backlog = { ...journal.owner, sessionId: journal.sessionId };
  await onServer(journal.url, async (client) => {
    await insertBacklog(client, {
      ...backlog,
      prefix: 'history',
      count: 50_000,
      state: 'delivered',
    });
    await insertBacklog(client, { ...backlog, prefix: 'open', count: 300 });
    await insertBacklog(client, {
      ...backlog,
      prefix: 'back-off',
      count: 20_000,
      firstDueInMs: 60_000,
    });
    await client.query('ANALYZE');
  });
});
afterAll(() => journal.close());

/** The plan of the prepared statement, independent of its values. */
async function genericPlan(client: Client, { text }: Statement): Promise<string> {
  await client.query('SET plan_cache_mode = force_generic_plan');
  await client.query(`PREPARE planned AS ${text}`);
  const count = new Set(text.match(/\$\d+/g)).size;
  const nulls = Array.from({ length: count }, () => 'NULL').join(', ');
  return await planOf(client, `EXPLAIN EXECUTE planned${count === 0 ? '' : `(${nulls})`}`);
}

async function planOf(client: Client, text: string, values: unknown[] = []): Promise<string> {
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(text, values);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

describe('with 50,000 delivered rows and 20,000 in back-off', () => {
  const statements: readonly (readonly [string, Statement])[] = [
    ['the sweep', DUE_OPERATORS],
    ['looking for what is due', LOOK],
    ['claiming it', CLAIM],
    ['waking an operator that is back', WAKE],
    ['probing a half-open breaker', NUDGE],
    ['recovering what killed processes left', LAPSED],
    ['looking for places that nobody rolled back', OVERDUE_UNKNOWN],
    ['counting what has ended since', COUNT_ENDED],
    ['finding until when to count', END_OF_STRETCH],
  ];

  it.each(statements)('%s reads no table from end to end', async (_, statement) => {
    const plan = await onServer(journal.url, (client) => genericPlan(client, statement));
    // The other tables have one row here or none, and so do the coming months.
    expect(plan).not.toMatch(/Seq Scan on (deliveries|bets)/);
    expect(plan).not.toContain(`Seq Scan on operations_${MONTH}`);
    expect(plan).toMatch(/Index/);
  });

  it('the sweep looks at an index entry an operator, not at one a delivery', async () => {
    const plan = await onServer(journal.url, (client) =>
      planOf(client, `EXPLAIN (ANALYZE, BUFFERS) ${DUE_OPERATORS.text}`),
    );
    expect(plan).toMatch(/Index (Only )?Scan using deliveries_due_idx/);
    expect(Number(/Buffers: shared hit=(\d+)/.exec(plan)?.[1])).toBeLessThan(30);
  });

  it('taking does not look at what is in back-off, also when it finds too little', async () => {
    const plan = await onServer(journal.url, (client) =>
      planOf(client, `EXPLAIN (ANALYZE) ${LOOK.text}`, ['alpha', 1_000, true]),
    );
    expect(plan).toMatch(/Index Scan using deliveries_due_idx on deliveries d .*rows=300/);
    expect(plan).not.toMatch(/Rows Removed by Filter: \d{4}/);
  });
});
