import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
  vi,
} from 'vitest';
import * as commits from '../../../src/store/bets/commit-statements.ts';
import * as outcomes from '../../../src/store/bets/finish-statement.ts';
import * as places from '../../../src/store/bets/place-statements.ts';
import * as recorded from '../../../src/store/bets/recorded.ts';
import { RECOVER } from '../../../src/store/bets/recover-statements.ts';
import * as bets from '../../../src/store/bets/statements.ts';
import { Database } from '../../../src/store/database.ts';
import { CLAIM, LOOK } from '../../../src/store/deliveries/claim-statements.ts';
import { type Statement, statement } from '../../../src/store/sql/statement.ts';
import { insertBacklog } from '../../deliveries/support/backlog.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';

/** Plans are made once and kept for a while: what a table contained at the time must not matter too much. */

const SETTINGS = statement(
  'settings',
  {},
  `SELECT current_setting('plan_cache_mode') AS mode, current_setting('enable_seqscan') AS seqscan,
          pg_backend_pid()::text AS pid`,
  (row) => ({ mode: row.text('mode'), seqscan: row.text('seqscan'), pid: row.text('pid') }),
);

/** The plan shows how many rows it expects. */
const COUNT_GROWING = statement('count', {}, 'SELECT count(id)::int AS n FROM growing', (row) =>
  row.int('n'),
);
const PLAN_OF_COUNT = statement('plan', {}, 'EXPLAIN EXECUTE count', (row) =>
  row.text('QUERY PLAN'),
);

const FLUSH = statement('flush', {}, 'SELECT pg_stat_force_next_flush()', () => undefined);

/** Everything that the journal runs on connections that keep their plans. */
const STATEMENTS = [commits, outcomes, places, bets, recorded, { RECOVER, LOOK, CLAIM }]
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

/** These hold nothing but what is open, or what has ended. */
const INDEX_OF_STATES = / deliveries_(due|pending|open_of_bet|bet_open|settled_at)_idx /;

/** Such a plan would read a whole backlog for each bet once a wallet is away. */
function expectNoReadingOfAll(plan: string): void {
  const uses = plan.split('->').filter((node) => INDEX_OF_STATES.test(node));
  for (const use of uses) expect(use).toMatch(/Index Cond: \(+(transaction_id|operator_id) = /);
}

describe('a connection that keeps its plans', () => {
  let kept: Database;
  beforeEach(() => {
    const { url } = database;
    kept = new Database({ url, connectionsMax: 1, plans: 'kept', onIdleError: () => undefined });
  });
  afterEach(() => kept.close());

  it('keeps one for all values, and scans no table', async () => {
    const settings = await kept.run(SETTINGS, {});
    expect(settings).toMatchObject([{ mode: 'force_generic_plan', seqscan: 'off' }]);
  });

  it('makes them again after half a minute, however busy it is, and stays open', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { client } = database;
    await client.query('CREATE TABLE growing (id int PRIMARY KEY)');
    const look = async () => {
      await kept.run(COUNT_GROWING, {});
      const [{ pid } = { pid: '' }] = await kept.run(SETTINGS, {});
      return { pid, plan: (await kept.run(PLAN_OF_COUNT, {})).join('\n') };
    };
    const first = await look();
    await client.query('INSERT INTO growing SELECT generate_series(1, 20000)');
    vi.advanceTimersByTime(29_000);
    expect(await look()).toEqual(first);
    vi.advanceTimersByTime(1_000);
    const anew = await look();
    expect(anew.pid).toBe(first.pid);
    expect(anew.plan).not.toBe(first.plan);
  });
});

it('the journal has such statements', () => {
  expect(STATEMENTS.length).toBeGreaterThan(15);
});

describe('of tables without a row', () => {
  it.each(STATEMENTS)('%s reads each row by its key, from the first day on', async (_, planned) => {
    const plan = await planOf(planned);
    expect(plan).not.toMatch(/Seq Scan|Disabled/);
    expectNoReadingOfAll(plan);
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
    expectNoReadingOfAll(await planOf(planned));
  });

  it('finds the promises of a bet by that bet alone, also once a wallet is away and thousands wait (I7)', async () => {
    const { client, url } = database;
    const kept = new Database({
      url,
      connectionsMax: 1,
      plans: 'kept',
      onIdleError: () => undefined,
    });
    onTestFinished(() => kept.close());
    await kept.run(bets.FIND, ['done-1']);
    const { rows } = await client.query<{ id: string }>(`SELECT id FROM players LIMIT 1`);
    const owner = {
      operatorId: 'alpha',
      playerId: rows[0]?.id ?? '',
      userId: 'u-anna',
      sessionId: null,
    };
    await insertBacklog(client, { ...owner, prefix: 'waits', count: 5_000 });
    // Not analysed: PostgreSQL does that once a tenth of all deliveries there ever were has changed.
    await kept.run(FLUSH, {});
    const before = await entriesRead();
    const [bet] = await kept.run(bets.FIND, ['waits-77']);
    expect(bet?.deliveries).toHaveLength(1);
    await kept.run(FLUSH, {});
    expect((await entriesRead()) - before).toBeLessThan(10);
  });
});

describe('while the statistics are of an outage, and all has been delivered since', () => {
  beforeAll(async () => {
    const { client } = database;
    await client.query(`UPDATE deliveries SET state = 'pending', settled_at = NULL`);
    await client.query('ANALYZE deliveries');
    await client.query(`UPDATE deliveries SET state = 'delivered', settled_at = now()`);
  });

  it.each(STATEMENTS)('%s does not plan to read all that have ended', async (_, planned) => {
    expectNoReadingOfAll(await planOf(planned));
  });
});

/** Of all indexes of deliveries. */
async function entriesRead(): Promise<number> {
  const { rows } = await database.client.query<{ read: string }>(
    `SELECT sum(idx_tup_read) AS read FROM pg_stat_user_indexes WHERE relname = 'deliveries'`,
  );
  return Number(rows[0]?.read);
}
