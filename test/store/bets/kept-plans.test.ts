import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as commits from '../../../src/store/bets/commit-statements.ts';
import * as outcomes from '../../../src/store/bets/finish-statement.ts';
import * as places from '../../../src/store/bets/place-statements.ts';
import * as bets from '../../../src/store/bets/statements.ts';
import { Database } from '../../../src/store/database.ts';
import { TAKE } from '../../../src/store/deliveries/statements.ts';
import { type Statement, statement } from '../../../src/store/statement.ts';
import { insertBacklog } from '../../deliveries/support/backlog.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';

/** Plans are made once and kept for a while: what a table held then must not matter too much. */

const SETTINGS = statement(
  'settings',
  {},
  `SELECT current_setting('plan_cache_mode') AS mode, current_setting('enable_seqscan') AS seqscan,
          pg_backend_pid()::text AS pid`,
  (row) => ({ mode: row.text('mode'), seqscan: row.text('seqscan'), pid: row.text('pid') }),
);

/** Whatever the journal runs on connections that keep their plans. */
const STATEMENTS = [commits, outcomes, places, bets, { TAKE }]
  .flatMap((module): readonly unknown[] => Object.values(module))
  .filter(isStatement)
  .map((planned) => [planned.name, planned] as const);

function isStatement(exported: unknown): exported is Statement {
  return exported instanceof Object && 'name' in exported && 'text' in exported;
}

let database: OpenDatabase;
beforeAll(async () => {
  database = await openDatabase();
  await database.client.query('SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off');
});
afterAll(() => database.drop());

async function planOf({ text }: Statement): Promise<string> {
  await database.client.query(`PREPARE planned AS ${text}`);
  const count = new Set(text.match(/\$\d+/g)).size;
  const nulls = Array.from({ length: count }, () => 'NULL').join(', ');
  const { rows } = await database.client.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN EXECUTE planned(${nulls})`,
  );
  await database.client.query('DEALLOCATE planned');
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** Such a plan would read all of a backlog with each outcome, once a wallet is away. */
function expectNoReadingOfAllThatAreOpen(plan: string): void {
  const nodes = plan.split('->');
  const uses = nodes.filter((node) => node.includes('deliveries_open_of_bet_idx'));
  for (const use of uses) expect(use).toMatch(/Index Cond: \(transaction_id/);
}

describe('a connection that keeps its plans', () => {
  let kept: Database;
  beforeAll(() => {
    const { url } = database;
    kept = new Database({ url, connectionsMax: 1, plans: 'kept', onIdleError: () => undefined });
  });
  afterAll(() => kept.close());

  it('keeps one for all values, and scans no table', async () => {
    const settings = await kept.run(SETTINGS, {});
    expect(settings).toMatchObject([{ mode: 'force_generic_plan', seqscan: 'off' }]);
  });

  it('is closed after half a minute, however busy it is, so that they are made anew', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const other = new Database({
      ...{ url: database.url, connectionsMax: 1, onIdleError: () => undefined },
      plans: 'kept',
    });
    const pid = async () => (await other.run(SETTINGS, {}))[0]?.pid;
    const first = await pid();
    await vi.advanceTimersByTimeAsync(20_000);
    // It is used, so it is no idle connection that was closed for that.
    expect(await pid()).toBe(first);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await pid()).not.toBe(first);
    await other.close();
  });
});

it('the journal has such statements', () => {
  expect(STATEMENTS.length).toBeGreaterThan(15);
});

describe('of tables without a row', () => {
  it.each(STATEMENTS)('%s reads each row by its key, from the first day on', async (_, planned) => {
    const plan = await planOf(planned);
    expect(plan).not.toMatch(/Seq Scan|Disabled/);
    expectNoReadingOfAllThatAreOpen(plan);
  });
});

describe('while no delivery is open', () => {
  beforeAll(async () => {
    const { client } = database;
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO players (operator_id, operator_user, user_id) VALUES ('alpha', 'anna', 'u-anna')
       RETURNING id`,
    );
    const playerId = rows[0]?.id ?? '';
    const owner = { operatorId: 'alpha', playerId, userId: 'u-anna', sessionId: null };
    await insertBacklog(client, { ...owner, prefix: 'done', count: 20_000, state: 'delivered' });
    await client.query('ANALYZE');
  });

  it.each(STATEMENTS)('%s does not plan to read all that are open', async (_, planned) => {
    expectNoReadingOfAllThatAreOpen(await planOf(planned));
  });
});
